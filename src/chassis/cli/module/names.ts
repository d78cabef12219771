import { UsageError } from '../terminal.ts';

/** The names that a module and its resource go by. */
export interface ModuleNames {
  /** `order-item`: its directory and its files. */
  readonly kebab: string;
  /** `orderItem`: what the container calls its classes, and the client its model. */
  readonly camel: string;
  /** `OrderItem`: its model and classes. */
  readonly pascal: string;
  /** `order-items`: the segment of its paths. */
  readonly plural: string;
  /** `orderItems`: the way back of a relation. */
  readonly camelPlural: string;
  /** `order_items`: its table. */
  readonly table: string;
}

/** Words that a constant of the module cannot be called: those of JavaScript, what every object has, and what its schema imports. */
const taken = new Set(
  (
    'arguments await break case catch class const continue debugger default delete do else enum eval export extends false ' +
    'finally for function if implements import in instanceof interface let new null package private protected public ' +
    'return static super switch this throw true try typeof undefined var void while with yield ' +
    'constructor dateTime decimal int64 listPolicy policyOf z'
  ).split(' '),
);

/**
 * The names of a module.
 *
 * @param name lower-case words joined by "-"
 * @param plural likewise; default: the name with an s
 * @throws UsageError for names of another form, and for one that code cannot use
 */
export function moduleNames(name: string, plural = pluralOf(name)): ModuleNames {
  for (const given of [name, plural]) {
    if (/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(given)) continue;
    throw new UsageError(`Expected lower-case words joined by "-", such as order-item; got "${given}".`);
  }
  const camel = camelCase(name);
  if (taken.has(camel)) {
    throw new UsageError(`Expected a name that code can use for a constant, such as ${name}-item; got "${name}".`);
  }
  return {
    kebab: name,
    camel,
    pascal: capital(camel),
    plural,
    camelPlural: camelCase(plural),
    table: plural.replaceAll('-', '_'),
  };
}

/** `order-item` is `orderItem`. */
function camelCase(kebab: string): string {
  return kebab.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** `orderItem` is `OrderItem`. */
export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function pluralOf(name: string): string {
  if (/[^aeiou]y$/.test(name)) return `${name.slice(0, -1)}ies`;
  return /(s|x|z|ch|sh)$/.test(name) ? `${name}es` : `${name}s`;
}
