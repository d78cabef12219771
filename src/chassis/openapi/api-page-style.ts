/**
 * What the style sheet of swagger-ui leaves too large: a list with its filter, order and includes, which is most of an
 * API, took five screens. Here it fits one with its button. All failures have the one body that the schema of an error
 * describes, so each is a line.
 */
export const apiPageStyle = `
.symbols { position: absolute; width: 0; height: 0 }
.swagger-ui .info { margin: 24px 0 }
.swagger-ui .scheme-container { margin: 0; padding: 12px 0 }
.swagger-ui .opblock .opblock-section-header { min-height: 40px; padding: 4px 20px }
.swagger-ui .opblock-description-wrapper { padding: 8px 20px }
.swagger-ui .opblock-description-wrapper p, .swagger-ui .parameters .renderedMarkdown p { margin: 0 }
.swagger-ui .opblock .table-container { padding: 4px 20px }
.swagger-ui table.parameters thead { display: none }
.swagger-ui table.parameters > tbody > tr > td { padding: 4px 0 }
.swagger-ui table.parameters > tbody > tr > td:first-child { padding-right: 16px; white-space: nowrap }
.swagger-ui .parameter__type, .swagger-ui .parameter__in { display: inline-block; padding: 2px 8px 0 0 }
.swagger-ui .parameters .renderedMarkdown ul { columns: 18em auto; margin: 0; padding-left: 20px }
.swagger-ui .parameters input, .swagger-ui .parameters select { margin: 2px 0 }
.swagger-ui .parameters .parameter__empty_value_toggle { padding: 0 0 4px }
.swagger-ui .parameters .parameter__empty_value_toggle input { margin-right: 7px }
.swagger-ui .parameters .model-example { margin: 2px 0 0 }
.swagger-ui .parameters .tab { margin: 0; padding: 0 }
.swagger-ui .parameters textarea { field-sizing: content; margin: 2px 0; min-height: 0; padding: 4px 8px }
.swagger-ui .execute-wrapper, .swagger-ui .btn-group { padding: 8px 20px }
.swagger-ui tr.response:not([data-code^="2"]) .response-col_description > :not(.response-col_description__inner) { display: none }
`;
