import * as z from 'zod/mini'
import { endpoint } from './kit/endpoint.ts'
import { Id } from './kit/ids.ts'
import { listEndpoint, SearchText, sortParameter } from './kit/lists.ts'
import { customCheck, maxCodeUnitsCheck, patternCheck, textLineSchema } from './kit/text-checks.ts'

const Colour = z
  .string()
  .check(patternCheck(/^#[0-9a-f]{6}$/, 'a colour in lower case such as #112233'))

/** Absent colors are those of the standard theme. `dark` makes the dark mode the default. */
export const Colors = z.object({
  dark: z.boolean(),
  background: z.optional(Colour),
  surface: z.optional(Colour),
  primary: z.optional(Colour),
  secondary: z.optional(Colour),
  success: z.optional(Colour),
  warning: z.optional(Colour),
  error: z.optional(Colour),
  info: z.optional(Colour)
})
export type Colors = z.infer<typeof Colors>

// pictures are SVG text; `logo_dark` stands for `logo` in dark mode
export const Theme = z.object({
  colors: Colors,
  favicon: z.string(),
  logo: z.string(),
  logo_dark: z.optional(z.string())
})
export type Theme = z.infer<typeof Theme>

/**
 * `colors` replaces all colors together, `null` removes `logo_dark`. SVG has no scripts, links or
 * raster images.
 */
const ThemeChanges = z.strictObject({
  colors: z.optional(z.strictObject(Colors.shape)),
  favicon: z.optional(z.string()),
  logo: z.optional(z.string()),
  logo_dark: z.optional(z.nullable(z.string()))
})
export type ThemeChanges = z.infer<typeof ThemeChanges>

export const Locale = z.enum(['en', 'fr'])
export type Locale = z.infer<typeof Locale>

export const SuspendedVerification = z.enum(['open', 'closed'])
export type SuspendedVerification = z.infer<typeof SuspendedVerification>

/**
 * `name` is that in mails and in the logo's alternative text. Each page's title ends with `title`.
 */
export const DomainConfig = z.object({
  id: z.uuid(),
  name: z.string(),
  title: z.string(),
  company: z.string(),
  theme: Theme,
  public: z.boolean(),
  locale: Locale,
  // an e-mail, an `https:` address or plain words
  contact: z.optional(z.string()),
  privacy: z.optional(z.string()),
  terms: z.optional(z.string()),
  // its documents are fictional
  demo: z.boolean(),
  paused: z.optional(z.object({ verification: SuspendedVerification })),
  version: z.number()
})
export type DomainConfig = z.infer<typeof DomainConfig>

export const HostName = z
  .string()
  .check(
    maxCodeUnitsCheck(253),
    patternCheck(
      /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/,
      'a host name in lower case such as docs.acme.fr'
    )
  )

const Line = textLineSchema(80)

const pageAddress = /^https:\/\/[^\s<>"]+$/

const PageAddress = z.string().check(
  maxCodeUnitsCheck(500),
  customCheck({ rule: 'web_address' }, 'an address that begins with https://', text => {
    return pageAddress.test(text) && URL.canParse(text)
  }),
  // refuses nothing that the check above accepts; the API documentation shows this pattern
  patternCheck(pageAddress, 'an address that begins with https://')
)

/**
 * `failing`: served, but the last check did not find the DNS record. `quarantined`: not served,
 * because it was missing for seven days. `taken`: another company has proved the host.
 */
export const DomainState = z.enum(['unverified', 'verified', 'failing', 'quarantined', 'taken'])
export type DomainState = z.infer<typeof DomainState>

/** `no_record`: the name has no TXT record. `other_value`: it has others. `no_answer`: in time. */
export const DnsOutcome = z.enum([
  'found',
  'no_name',
  'no_record',
  'other_value',
  'no_answer',
  'server_failed'
])
export type DnsOutcome = z.infer<typeof DnsOutcome>

export const Domain = z.object({
  id: z.uuid(),
  version: z.number(),
  // in `*.acme.fr`, the star stands for exactly one label
  host: z.string(),
  name: z.string(),
  title: z.string(),
  public: z.boolean(),
  locale: Locale,
  contact: z.nullable(z.string()),
  privacy: z.nullable(z.string()),
  terms: z.nullable(z.string()),
  created: z.iso.datetime(),
  state: DomainState,
  /**
   * Mails lead to it, and it cannot be removed. Without a choice, the oldest verified domain
   * without a wildcard; `localhost` comes last. A mail that somebody requests on another host links
   * to that host, unless a wildcard covers it.
   */
  primary: z.boolean(),
  // `null` if the domain needs no proof
  proof: z.nullable(
    z.object({
      name: z.string(),
      value: z.string(),
      // where the record must be created: `acme.fr`
      zone: z.string()
    })
  ),
  // `null` before the first
  check: z.nullable(
    z.object({
      at: z.iso.datetime(),
      outcome: DnsOutcome,
      // at most 5, of at most 200 characters
      values: z.array(z.string())
    })
  ),
  // the record of a verified domain is missing since
  failing_since: z.nullable(z.iso.datetime()),
  // offline since, also if another company proves the host afterwards
  quarantined_since: z.nullable(z.iso.datetime())
})
export type Domain = z.infer<typeof Domain>

export const DomainDetails = z.extend(Domain, {
  theme: Theme,
  // hosts of other companies that only this wildcard verifies; only operators can then remove it
  covers: z.object({
    count: z.number(),
    // at most 100, only by `getDomain` and for operators
    hosts: z.array(z.object({ host: z.string(), company: z.string() }))
  }),
  /** Only by `checkDomain`. Empty without an address record, absent if DNS did not answer. */
  addresses: z.optional(z.object({ pages: z.array(z.string()), api: z.array(z.string()) }))
})
export type DomainDetails = z.infer<typeof DomainDetails>

export const ColorCorrection = z.object({
  colour: z.enum([
    'background',
    'surface',
    'primary',
    'secondary',
    'success',
    'warning',
    'error',
    'info'
  ]),
  mode: z.enum(['light', 'dark']),
  original: z.string(),
  used: z.string()
})

const Author = z.nullable(z.object({ id: z.uuid(), username: z.nullable(z.string()) }))

export const ThemeVersion = z.object({
  number: z.number(),
  published: z.iso.datetime(),
  // `null` if created together with the domain
  by: Author,
  // the earlier theme of which this is a copy
  restored: z.nullable(z.number())
})

export const DomainThemes = z.object({
  // grows with each change of the draft and each publication
  version: z.number(),
  published: z.object({
    number: z.number(),
    theme: Theme,
    corrections: z.array(ColorCorrection)
  }),
  draft: z.nullable(
    z.object({
      theme: Theme,
      corrections: z.array(ColorCorrection),
      saved: z.iso.datetime(),
      by: Author
    })
  ),
  // the 20 newest
  versions: z.array(ThemeVersion)
})
export type DomainThemes = z.infer<typeof DomainThemes>

/** Lists the domains of a company. `q` holds words from a domain. */
export const listDomains = listEndpoint({
  path: '/company/{id}/domains',
  access: 'admin',
  item: Domain,
  input: {
    id: Id,
    q: SearchText,
    sort: sortParameter('host', 'created'),
    state: z.optional(DomainState)
  }
})

/**
 * Adds a domain to the company. Its pages are served as soon as the DNS record of `proof` has been
 * found.
 */
export const createDomain = endpoint({
  method: 'POST',
  path: '/domain',
  access: 'admin',
  status: 201,
  idempotency: 'honoured',
  versioned: 'settings',
  input: z.strictObject({
    // `*.acme.fr` stands for all hosts with exactly one label before `.acme.fr`
    host: z.string().check(
      maxCodeUnitsCheck(253),
      patternCheck(
        /^(?:\*\.)?[\p{L}\p{N}\p{M}.-]+$/u,
        'a host name such as docs.acme.fr or *.acme.fr'
      ),
      customCheck({ rule: 'format' }, 'well-formed Unicode text', text => text.isWellFormed())
    ),
    // the company's name if absent
    name: z.optional(Line),
    // the company's name if absent
    title: z.optional(Line),
    // whether strangers may sign up
    public: z.optional(z.boolean()),
    // if absent, that of the company's oldest domain
    locale: z.optional(Locale)
  }),
  output: DomainDetails,
  errors: [
    'host_not_allowed',
    'host_taken',
    'too_many_domains',
    'too_many_claims',
    'default_group_private',
    'idempotency_in_flight',
    'idempotency_key_reused'
  ]
})

/**
 * Returns a domain: its state, the record that verifies it, what DNS answered last, and its look.
 */
export const getDomain = endpoint({
  method: 'GET',
  path: '/domain/{id}',
  access: 'admin',
  versioned: 'settings',
  input: z.strictObject({ id: Id }),
  output: DomainDetails
})

/**
 * Changes what people see on a host: names, colors, language, contact, and whether strangers can
 * sign up. `theme` publishes a new look at once. With `If-Match`, it changes only the version you
 * have seen.
 */
export const updateDomain = endpoint({
  method: 'PUT',
  path: '/domain/{id}',
  access: 'admin',
  versioned: 'settings',
  input: z.strictObject({
    id: Id,
    name: z.optional(Line),
    title: z.optional(Line),
    public: z.optional(z.boolean()),
    locale: z.optional(Locale),
    theme: z.optional(ThemeChanges),
    contact: z.optional(z.nullable(Line)),
    privacy: z.optional(z.nullable(PageAddress)),
    terms: z.optional(z.nullable(PageAddress))
  }),
  output: DomainDetails,
  errors: ['changed_meanwhile', 'confirmation_required', 'svg_refused', 'default_group_private']
})

/** Removes a domain with its pages and tokens. The primary domain stays. */
export const deleteDomain = endpoint({
  method: 'DELETE',
  path: '/domain/{id}',
  access: 'admin',
  confirmation: true,
  versioned: 'settings',
  input: z.strictObject({ id: Id }),
  output: z.void(),
  errors: ['changed_meanwhile', 'domain_needed', 'domain_covers_others']
})

/** Asks DNS now for the record that verifies a domain. */
export const checkDomain = endpoint({
  method: 'POST',
  path: '/domain/{id}/check',
  access: 'admin',
  versioned: 'settings',
  input: z.strictObject({ id: Id }),
  output: DomainDetails
})

/** Moves a domain to another company. Its tokens end. */
export const moveDomainToCompany = endpoint({
  method: 'POST',
  path: '/domain/{id}/move',
  access: 'operator',
  confirmation: true,
  versioned: 'settings',
  input: z.strictObject({ id: Id, company_id: Id }),
  output: DomainDetails,
  errors: ['domain_needed', 'host_taken', 'too_many_domains']
})

/**
 * Makes a verified domain the primary one, to which links in mails lead. Links sent already still
 * work. Refused for a wildcard.
 */
export const makeDomainPrimary = endpoint({
  method: 'POST',
  path: '/domain/{id}/primary',
  access: 'admin',
  versioned: 'settings',
  input: z.strictObject({ id: Id }),
  output: DomainDetails,
  errors: ['domain_unsuitable']
})

/**
 * Returns the published look of a domain, its draft and the earlier looks, with the colors that
 * pages replace because they could not be read.
 */
export const getDomainThemes = endpoint({
  method: 'GET',
  path: '/domain/{id}/theme',
  access: 'admin',
  versioned: 'content',
  input: z.strictObject({ id: Id }),
  output: DomainThemes
})

/** Saves a draft of a look, which only administrators see. */
export const saveThemeDraft = endpoint({
  method: 'PUT',
  path: '/domain/{id}/theme',
  access: 'admin',
  versioned: 'content',
  input: z.extend(ThemeChanges, { id: Id }),
  output: DomainThemes,
  errors: ['changed_meanwhile', 'svg_refused']
})

/** Deletes the draft of a look. */
export const deleteThemeDraft = endpoint({
  method: 'DELETE',
  path: '/domain/{id}/theme',
  access: 'admin',
  versioned: 'content',
  input: z.strictObject({ id: Id }),
  output: z.void(),
  errors: ['changed_meanwhile']
})

/** Gives the pages the look of the draft. */
export const publishTheme = endpoint({
  method: 'POST',
  path: '/domain/{id}/publish',
  access: 'admin',
  versioned: 'content',
  input: z.strictObject({ id: Id }),
  output: DomainThemes,
  errors: ['changed_meanwhile']
})

/** Publishes an earlier look again, under a new number. */
export const publishEarlierTheme = endpoint({
  method: 'POST',
  path: '/domain/{id}/restore',
  access: 'admin',
  versioned: 'content',
  input: z.strictObject({ id: Id, number: z.number().check(z.int(), z.gte(1)) }),
  output: DomainThemes,
  errors: ['changed_meanwhile']
})

/** Returns the name, colors and language of this host. */
export const getDomainConfig = endpoint({
  method: 'GET',
  path: '/{domain}',
  access: 'public',
  suspended: true,
  versioned: 'content',
  input: z.strictObject({ domain: HostName }),
  output: DomainConfig,
  errors: ['unknown_domain']
})

export const domainConfigCalls = { getDomainConfig }

// without `getDomainConfig`, whose path matches many others: the server mounts it last
export const domainAdminCalls = {
  listDomains,
  createDomain,
  getDomain,
  updateDomain,
  deleteDomain,
  checkDomain,
  moveDomainToCompany,
  makeDomainPrimary,
  getDomainThemes,
  saveThemeDraft,
  deleteThemeDraft,
  publishTheme,
  publishEarlierTheme
}
