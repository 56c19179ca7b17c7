// Read by astro-i18next through its own loader: it must be .ts, and import.meta is not available.
import enAccount from './src/i18n/en/account.json'
import enAdmin from './src/i18n/en/admin.json'
import enCommon from './src/i18n/en/common.json'
import enDeposit from './src/i18n/en/deposit.json'
import enDescriptions from './src/i18n/en/descriptions.json'
import enDisabled from './src/i18n/en/disabled.json'
import enDocs from './src/i18n/en/docs.json'
import enErrors from './src/i18n/en/errors.json'
import enFailure from './src/i18n/en/failure.json'
import enFields from './src/i18n/en/fields.json'
import enForms from './src/i18n/en/forms.json'
import enGroups from './src/i18n/en/groups.json'
import enHistory from './src/i18n/en/history.json'
import enHome from './src/i18n/en/home.json'
import enLimits from './src/i18n/en/limits.json'
import enLinks from './src/i18n/en/links.json'
import enLists from './src/i18n/en/lists.json'
import enMe from './src/i18n/en/me.json'
import enNotFound from './src/i18n/en/notFound.json'
import enSetup from './src/i18n/en/setup.json'
import enShell from './src/i18n/en/shell.json'
import enVerify from './src/i18n/en/verify.json'
import frAccount from './src/i18n/fr/account.json'
import frAdmin from './src/i18n/fr/admin.json'
import frCommon from './src/i18n/fr/common.json'
import frDeposit from './src/i18n/fr/deposit.json'
import frDescriptions from './src/i18n/fr/descriptions.json'
import frDisabled from './src/i18n/fr/disabled.json'
import frDocs from './src/i18n/fr/docs.json'
import frErrors from './src/i18n/fr/errors.json'
import frFailure from './src/i18n/fr/failure.json'
import frFields from './src/i18n/fr/fields.json'
import frForms from './src/i18n/fr/forms.json'
import frGroups from './src/i18n/fr/groups.json'
import frHistory from './src/i18n/fr/history.json'
import frHome from './src/i18n/fr/home.json'
import frLimits from './src/i18n/fr/limits.json'
import frLinks from './src/i18n/fr/links.json'
import frLists from './src/i18n/fr/lists.json'
import frMe from './src/i18n/fr/me.json'
import frNotFound from './src/i18n/fr/notFound.json'
import frSetup from './src/i18n/fr/setup.json'
import frShell from './src/i18n/fr/shell.json'
import frVerify from './src/i18n/fr/verify.json'

const resources = {
  en: {
    account: enAccount,
    admin: enAdmin,
    common: enCommon,
    deposit: enDeposit,
    descriptions: enDescriptions,
    disabled: enDisabled,
    docs: enDocs,
    errors: enErrors,
    failure: enFailure,
    fields: enFields,
    forms: enForms,
    groups: enGroups,
    history: enHistory,
    home: enHome,
    limits: enLimits,
    links: enLinks,
    lists: enLists,
    me: enMe,
    notFound: enNotFound,
    setup: enSetup,
    shell: enShell,
    verify: enVerify
  },
  fr: {
    account: frAccount,
    admin: frAdmin,
    common: frCommon,
    deposit: frDeposit,
    descriptions: frDescriptions,
    disabled: frDisabled,
    docs: frDocs,
    errors: frErrors,
    failure: frFailure,
    fields: frFields,
    forms: frForms,
    groups: frGroups,
    history: frHistory,
    home: frHome,
    limits: frLimits,
    links: frLinks,
    lists: frLists,
    me: frMe,
    notFound: frNotFound,
    setup: frSetup,
    shell: frShell,
    verify: frVerify
  }
}

export default {
  locales: ['en', 'fr'],
  defaultLocale: 'en',
  namespaces: Object.keys(resources.en),
  defaultNamespace: 'common',
  showDefaultLocale: true,
  load: ['server'],
  i18nextServerPlugins: { fsBackend: null },
  i18nextServer: {
    backend: null,
    initAsync: false,
    initImmediate: false,
    // Astro escapes; the words are plain text.
    interpolation: { escapeValue: false },
    resources
  }
}
