/** What may stand between the words of a name, a blank of a URL as well. */
const gap = '[-_. +]?';
/** Parts of names behind which a secret stands, whatever is around them. */
const parts =
  `passw|pwd|passphrase|passcode|token|secret|api${gap}key|private${gap}key|credential|authorization|jwt|` +
  `(?:access|signing|encryption|shared|master)${gap}key|(?:code|oauth|pkce)${gap}verifier|saml${gap}(?:request|response|art)|` +
  `cvv|card${gap}number|csrf|xsrf|hmac`;
/** Whole names of secrets, which as parts would be found in `country_code` or `spinning`. */
const words = 't?otp|mfa|pin|pass|pw|sid|session(?:[-_]?id)?|refresh|bearer|auth';
/** The same that are ordinary words in a text. */
const namesOnly = `cvc2?|(?:account|activation|pass|recovery|reset|subscription)${gap}key|credit${gap}card|phpsessid|pkce`;
/** The same that are ordinary names of what a log tells. */
const parametersOnly =
  `access|code|cookies?|key|sig|ticket|csc|pat|verifier|invite|wresult|magic(?:${gap}link)?|x[-_]functions[-_]key|` +
  'state|nonce|saml';
/** Codes that everybody may read; every other `…_code` is taken for one that opens something. */
const publicCodes = 'country|currency|language|lang|locale|post|postal|zip|area|region|status|error|exit|color|product';

/** Names of log fields. */
export const secretField = new RegExp(
  `cookie|^raw(?:headers|trailers)$|${parts}|^(?:${words}|${namesOnly})$|` +
    '(?<=[a-z\\d])(?-i:Otp|Pin|Sid)$|(?:otp|mfa|pin|reset|recovery)Code$',
  'i',
);

/** Names of parameters in a URL. */
export const secretParameter = new RegExp(
  `signature|session|${parts}|assertion$|^(?:${parametersOnly}|${namesOnly}|${words})$|` +
    `(?:^|[-_.[])(?:t?otp|mfa|pass|pin|sid)(?:\\]|\\[\\])?$|(?<!(?:^|[-_])(?:${publicCodes}))[-_]code$|` +
    // The same in names such as `recoveryCode`.
    `(?<=[a-z\\d])(?-i:Otp|Pass|Pin|Sid)$|(?<=[a-z\\d])(?<!${publicCodes})(?-i:Code)$`,
  'i',
);

/** What JSON or a URL in a parameter must not speak of. */
export const secretInValue = new RegExp(parts, 'i');

const quoted = `\\\\?"[^"\\n]{0,4096}"?|'[^'\\n]{0,4096}'?`;

/**
 * An assignment in a text: `password=…`, `user[password]=…`, `"token": "…"` or a last `secret: …`. Behind a colon without quotes a sentence may
 * go on, as in "Invalid password: expected 12 characters", so one word is masked there only where nothing follows. Every
 * repetition is bounded, and a bare word ends at the next colon, so that the time is in proportion to the text.
 */
export const secretAssignment = new RegExp(
  `((?:${parts}|(?<![a-z])(?:${words})(?![a-z]))[\\w-]{0,32}\\]{0,2}\\\\?["']?[ \\t]{0,4})` +
    `(=[ \\t]{0,4}(?!\\[redacted\\])(?:${quoted}|[^\\s,;&"')}\\]]+)` +
    `|:[ \\t]{0,4}(?!\\[redacted\\])(?:${quoted}|[^\\s,;:=&"')}\\]]{1,128}(?=[ \\t]{0,4}(?:$|[,;)}\\]\\n]))))`,
  'gi',
);

/** What any secret in a URL needs but `longCredential`; a path without parameters has none of it and is not searched further. */
export const suspiciousInUrl = /[=@%{]|eyJ|_[\da-f]{80}|bearer|basic/i;

/** The same in a text; most texts have none of it and need no second look. `rv:109.0` is of many browsers. */
export const suspicious = /[=@]|:(?!\d+\.|\/\/)|eyJ|_[\da-f]{80}|bearer|basic/i;

/**
 * 64 bytes in base64url, which are 86 characters, with more around them, or without a few at their end: whoever reads a log
 * could try those out. Capitals and others are in it, unlike in a file's name, a hash or a line of dashes.
 */
const sealed = '(?<![\\w-])(?=[\\w-]*?(?-i:[A-Z]))(?=[\\w-]*?(?-i:[a-z]))[\\w-]{80,}';

/** An API key without its prefix. A hash of SHA-384 has eight digits less, one of SHA-512 has more. */
const bareKey = '(?<![\\da-f])[\\da-f]{104}(?![\\da-f])';

/** What refresh tokens look like, and API keys without their prefix. To look for it takes ten times as long as for all else. */
export const longCredential = new RegExp(`${sealed}|${bareKey}`);

/**
 * A JSON Web Token, or an API key as `ApiKeys` makes them but for its prefix, wherever it stands. Long texts are cut before
 * they are masked: of a key its checksum tells eight digits that are lost, and a few more can be tried.
 */
const credential = '(?<![\\w-])[\\w-]{0,64}?eyJ[\\w-]{8,}\\.[\\w-]+\\.[\\w-]*|_[\\da-f]{80,104}(?![\\da-f])';
const schemed = '\\b(Bearer|Basic)\\s+[\\w.~+/=-]+';

/** One of these in a text. */
export const token = new RegExp(credential);

/** All of them, and what follows the name of an authorization scheme. */
export const bareCredentials = new RegExp(`${credential}|${schemed}`, 'gi');

/** The same with what `longCredential` matches. */
export const allCredentials = new RegExp(`${credential}|${bareKey}|${sealed}|${schemed}`, 'gi');
