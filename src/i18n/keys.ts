interface Catalogue {
  account: typeof import('./en/account.json')
  admin: typeof import('./en/admin/admin.json')
  categories: typeof import('./en/admin/categories.json')
  category: typeof import('./en/category.json')
  audit: typeof import('./en/admin/audit.json')
  changes: typeof import('./en/admin/changes.json')
  common: typeof import('./en/common.json')
  dataSources: typeof import('./en/admin/dataSources.json')
  deposit: typeof import('./en/deposit.json')
  descriptions: typeof import('./en/descriptions.json')
  companies: typeof import('./en/admin/companies.json')
  domains: typeof import('./en/admin/domains.json')
  disabled: typeof import('./en/disabled.json')
  docs: typeof import('./en/docs.json')
  entrance: typeof import('./en/entrance.json')
  errors: typeof import('./en/errors.json')
  failure: typeof import('./en/failure.json')
  fields: typeof import('./en/fields.json')
  files: typeof import('./en/files.json')
  forms: typeof import('./en/forms.json')
  groups: typeof import('./en/admin/groups.json')
  history: typeof import('./en/history.json')
  home: typeof import('./en/home.json')
  imports: typeof import('./en/admin/imports.json')
  invite: typeof import('./en/invite.json')
  keys: typeof import('./en/keys.json')
  limits: typeof import('./en/admin/limits.json')
  links: typeof import('./en/links.json')
  lists: typeof import('./en/lists.json')
  me: typeof import('./en/me.json')
  moveDomain: typeof import('./en/admin/moveDomain.json')
  notFound: typeof import('./en/notFound.json')
  overview: typeof import('./en/admin/overview.json')
  page: typeof import('./en/page.json')
  palette: typeof import('./en/palette.json')
  passOn: typeof import('./en/admin/passOn.json')
  person: typeof import('./en/admin/person.json')
  setup: typeof import('./en/setup.json')
  shell: typeof import('./en/shell.json')
  users: typeof import('./en/admin/users.json')
  verify: typeof import('./en/verify.json')
}

export type Namespace = keyof Catalogue

// keys from the API, which tests check
type OpenNamespace = 'docs' | 'errors' | 'fields'

export type NamespaceKey<Name extends Namespace> = Name extends OpenNamespace
  ? string
  : KeysOf<Catalogue[Name]>

export type MessageKey = { [Name in Namespace]: `${Name}.${NamespaceKey<Name>}` }[Namespace]

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
