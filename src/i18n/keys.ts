import type account from './en/account.json'
import type admin from './en/admin.json'
import type common from './en/common.json'
import type deposit from './en/deposit.json'
import type descriptions from './en/descriptions.json'
import type disabled from './en/disabled.json'
import type docs from './en/docs.json'
import type errors from './en/errors.json'
import type failure from './en/failure.json'
import type fields from './en/fields.json'
import type forms from './en/forms.json'
import type groups from './en/groups.json'
import type history from './en/history.json'
import type home from './en/home.json'
import type limits from './en/limits.json'
import type links from './en/links.json'
import type lists from './en/lists.json'
import type me from './en/me.json'
import type notFound from './en/notFound.json'
import type setup from './en/setup.json'
import type shell from './en/shell.json'
import type verify from './en/verify.json'

/**
 * The English texts of all namespaces. They give the types of the keys; a test checks that the
 * other languages have the same keys.
 */
interface Catalogue {
  account: typeof account
  admin: typeof admin
  common: typeof common
  deposit: typeof deposit
  descriptions: typeof descriptions
  disabled: typeof disabled
  docs: typeof docs
  errors: typeof errors
  failure: typeof failure
  fields: typeof fields
  forms: typeof forms
  groups: typeof groups
  history: typeof history
  home: typeof home
  limits: typeof limits
  links: typeof links
  lists: typeof lists
  me: typeof me
  notFound: typeof notFound
  setup: typeof setup
  shell: typeof shell
  verify: typeof verify
}

/** Name of a file with texts in `src/i18n`, without its ending: `account`. */
export type Namespace = keyof Catalogue

/**
 * Namespaces whose keys the type checker does not check, because the API or the contract defines
 * them. Tests check that each key has a text.
 */
type OpenNamespace = 'docs' | 'errors' | 'fields'

/** A key of one namespace, such as `'signIn.submit'` of `account`. */
export type KeyIn<Name extends Namespace> = Name extends OpenNamespace
  ? string
  : KeysOf<Catalogue[Name]>

/** A key of any namespace, such as `'account.signIn.submit'`. */
export type WordKey = { [Name in Namespace]: `${Name}.${KeyIn<Name>}` }[Namespace]

type KeysOf<Words> = {
  [Name in keyof Words & string]: Words[Name] extends string
    ? WithoutPlural<Name>
    : `${Name}.${KeysOf<Words[Name]>}`
}[keyof Words & string]

type WithoutPlural<Name extends string> = Name extends `${infer Stem}_one`
  ? Stem
  : Name extends `${infer Stem}_other`
    ? Stem
    : Name
