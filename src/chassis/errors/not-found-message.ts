/** What a NotFoundException says about a model, e.g. `Product not found`. */
export function notFoundMessage(model: string | undefined): string {
  const name = modelWords(model);
  return `${name.charAt(0).toUpperCase()}${name.slice(1)} not found`;
}

/** A model's name in words, e.g. `refresh token`; `record` without one. */
export function modelWords(model: string | undefined): string {
  return model === undefined ? 'record' : model.replace(/(?<=[a-z\d])[A-Z]/g, ' $&').toLowerCase();
}
