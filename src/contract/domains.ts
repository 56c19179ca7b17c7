import * as z from 'zod/mini'
import { endpoint } from './kit/endpoint.ts'
import { Id } from './kit/ids.ts'
import { listEndpoint, SearchText, sortParameter } from './kit/lists.ts'
import { customCheck, maxCodeUnitsCheck, patternCheck, textLineSchema } from './kit/text-checks.ts'

const Colour = z
  .string()
  .check(patternCheck(/^#[0-9a-f]{6}$/, 'a colour in lower case such as #112233'))

/**
 * The colors of a domain's pages. An absent color has the value of the standard theme. `dark` makes
 * the dark mode the default.
 */
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

/**
 * The theme of a domain's pages: colors, and `favicon` and `logo` as SVG text. In dark mode, pages
 * show `logo_dark`, if present, instead of `logo`.
 */
export const Theme = z.object({
  colors: Colors,
  favicon: z.string(),
  logo: z.string(),
  logo_dark: z.optional(z.string())
})
export type Theme = z.infer<typeof Theme>

/**
 * Changes to a theme. Parts that the input does not contain stay unchanged. `colors` replaces all
 * colors together. `logo_dark` is removed by `null`. The pictures are SVG text of at most 64 KB,
 * without scripts, links and raster images.
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

/** Whether strangers can still verify the documents of a suspended company. */
export const SuspendedVerification = z.enum(['open', 'closed'])
export type SuspendedVerification = z.infer<typeof SuspendedVerification>

/**
 * The configuration of the pages of one host. `company` is the name of the company. `name` is the
 * name of the company in mails and in the alternative text of the logo. The title of each page ends
 * with `title`. `version` grows with each change.
 */
export const DomainConfig = z.object({
  id: z.uuid(),
  name: z.string(),
  title: z.string(),
  company: z.string(),
  theme: Theme,
  public: z.boolean(),
  locale: Locale,
  /**
   * How people reach the company: an e-mail, an `https:` address or plain words. Shown in the
   * footer and to people whose account is disabled.
   */
  contact: z.optional(z.string()),
  /** Address of the company's privacy policy, for the footer. */
  privacy: z.optional(z.string()),
  /** Address of the company's terms of service, for the footer. */
  terms: z.optional(z.string()),
  /** Whether the company is the demonstration, whose documents are fictional. */
  demo: z.boolean(),
  /** Present while the company is suspended. */
  paused: z.optional(z.object({ verification: SuspendedVerification })),
  version: z.number()
})
export type DomainConfig = z.infer<typeof DomainConfig>

/** Schema of a host name in lower case, such as `docs.acme.fr`. */
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
 * State of a domain.
 * - `unverified`: the company has not proved yet that it owns the host, so no page is served there.
 * - `verified`: pages are served.
 * - `failing`: pages are served, but the last check did not find the DNS record that proves who
 *   owns the host.
 * - `quarantined`: the record was missing for seven days, so no page is served until it is found.
 * - `taken`: another company has proved that it owns the host. This company can prove that it owns
 *   the host only after the other company has lost or removed its domain.
 */
export const DomainState = z.enum(['unverified', 'verified', 'failing', 'quarantined', 'taken'])
export type DomainState = z.infer<typeof DomainState>

/**
 * Result of a DNS query for the TXT record that proves who owns a domain. `found`: the record
 * exists. `no_name`: the name of the record does not exist. `no_record`: the name exists but has no
 * TXT record. `other_value`: the name has TXT records, but with other values. `no_answer`: no DNS
 * server answered in time. `server_failed`: the DNS servers answered with an error.
 */
export const DnsOutcome = z.enum([
  'found',
  'no_name',
  'no_record',
  'other_value',
  'no_answer',
  'server_failed'
])
export type DnsOutcome = z.infer<typeof DnsOutcome>

/** A domain of a company, as administrators see it. */
export const Domain = z.object({
  id: z.uuid(),
  version: z.number(),
  /** The host name, or a wildcard such as `*.acme.fr`, where `*` stands for exactly one label. */
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
   * Whether this is the company's primary domain. Links in mails lead to the primary domain by
   * default, and it cannot be removed. An administrator chooses the primary domain. While no
   * verified domain is chosen, the oldest verified domain without a wildcard is the primary one;
   * `localhost` comes last.
   * A mail that somebody requests on another host, for example to reset a password, links to that
   * host, unless the host belongs to a wildcard domain.
   */
  primary: z.boolean(),
  /**
   * The DNS record with which the company proves that it owns the host. `null` if the domain needs
   * no proof.
   */
  proof: z.nullable(
    z.object({
      /** Name of the TXT record, such as `_domain-check.docs.acme.fr`. */
      name: z.string(),
      /** Value of the TXT record. */
      value: z.string(),
      /** The DNS zone in which the record must be created, such as `acme.fr`. */
      zone: z.string()
    })
  ),
  /** Result of the last check of the DNS record. `null` before the first check. */
  check: z.nullable(
    z.object({
      at: z.iso.datetime(),
      outcome: DnsOutcome,
      /** The values of the TXT records that were found: at most 5, of at most 200 characters. */
      values: z.array(z.string())
    })
  ),
  /**
   * Time since which the DNS record of a verified domain has been missing. `null` if the record is
   * not missing, or if the domain was never verified.
   */
  failing_since: z.nullable(z.iso.datetime()),
  /**
   * Time at which the domain's pages went offline, because the DNS record had been missing for
   * seven days. `null` if the pages are online or have never been online. The time stays set if
   * another company proves afterwards that it owns the host (state `taken`).
   */
  quarantined_since: z.nullable(z.iso.datetime())
})
export type Domain = z.infer<typeof Domain>

/** A domain with the theme that its pages show now. */
export const DomainDetails = z.extend(Domain, {
  theme: Theme,
  /**
   * The hosts of other companies that are verified only because of this wildcard domain. While
   * there are any, only operators can remove it.
   */
  covers: z.object({
    count: z.number(),
    /** At most 100 of these hosts. Only `getDomain` returns them, and only to operators. */
    hosts: z.array(z.object({ host: z.string(), company: z.string() }))
  }),
  /**
   * The IP addresses that DNS has for the host and for its API: an empty list if there is no
   * address record yet. Only `checkDomain` returns them. Absent if DNS did not answer, and in an
   * installation without DNS checks.
   */
  addresses: z.optional(z.object({ pages: z.array(z.string()), api: z.array(z.string()) }))
})
export type DomainDetails = z.infer<typeof DomainDetails>

/**
 * A color that pages replace because it would be hard to read. `original` is the color in the
 * theme, and `used` the color that pages show instead.
 */
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

/** A published theme of a domain. Themes are numbered from 1. */
export const ThemeVersion = z.object({
  number: z.number(),
  published: z.iso.datetime(),
  /** Who published the theme. `null`: the theme was created together with the domain. */
  by: Author,
  /** Number of the earlier theme of which this is a copy. `null`: the theme is not a copy. */
  restored: z.nullable(z.number())
})

/** The themes of a domain: the published one, the draft and the earlier ones. */
export const DomainThemes = z.object({
  /**
   * Version number to send in `If-Match`. Each change of the draft and each publication increments
   * it.
   */
  version: z.number(),
  /** The theme that pages show now. */
  published: z.object({
    number: z.number(),
    theme: Theme,
    corrections: z.array(ColorCorrection)
  }),
  /** The theme that only administrators see until they publish it. `null`: there is no draft. */
  draft: z.nullable(
    z.object({
      theme: Theme,
      corrections: z.array(ColorCorrection),
      saved: z.iso.datetime(),
      by: Author
    })
  ),
  /** The published themes, newest first. Only the 20 newest themes are stored. */
  versions: z.array(ThemeVersion)
})
export type DomainThemes = z.infer<typeof DomainThemes>

/** Lists the domains of a company, by host unless `sort` says otherwise. */
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
 * Claims a host for the company. The company must then create the DNS record that `proof` of the
 * output describes. Pages are served on the host when the server has found the record. Several
 * companies may claim the same host. Each gets a different record, and the first company whose
 * record is found owns the host. Fails with `host_taken` if another company owns the host, or if
 * this company has claimed it already. No proof is needed below a verified wildcard domain of the
 * company, for `*.localhost` on a developer's machine, and in an installation without DNS checks.
 * The new domain gets the theme of the company's oldest domain. The host is stored in lower case
 * and punycode.
 */
export const createDomain = endpoint({
  method: 'POST',
  path: '/domain',
  access: 'admin',
  status: 201,
  idempotency: 'honoured',
  versioned: 'settings',
  input: z.strictObject({
    /**
     * `docs.acme.fr` for one host, or `*.acme.fr` for all hosts with exactly one label before
     * `.acme.fr`.
     */
    host: z.string().check(
      maxCodeUnitsCheck(253),
      patternCheck(
        /^(?:\*\.)?[\p{L}\p{N}\p{M}.-]+$/u,
        'a host name such as docs.acme.fr or *.acme.fr'
      ),
      customCheck({ rule: 'format' }, 'well-formed Unicode text', text => text.isWellFormed())
    ),
    /** Name that the pages show. The company's name if absent. */
    name: z.optional(Line),
    /** Title of the pages. The company's name if absent. */
    title: z.optional(Line),
    /** Whether strangers may sign up. False if absent. */
    public: z.optional(z.boolean()),
    /** Language of the pages. If absent, that of the company's oldest domain. */
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

/** Returns a domain with the theme that its pages show. */
export const getDomain = endpoint({
  method: 'GET',
  path: '/domain/{id}',
  access: 'admin',
  versioned: 'settings',
  input: z.strictObject({ id: Id }),
  output: DomainDetails
})

/**
 * Changes a domain immediately. Fields that the input does not contain stay unchanged. `theme`
 * publishes a new theme without a draft. `null` removes `contact`, `privacy` or `terms`.
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

/**
 * Removes a domain. Its pages, session tokens and event streams stop working immediately. Fails
 * with `domain_needed` for the company's primary domain and for its only domain, and with
 * `domain_covers_others` for a wildcard domain that verifies hosts of other companies, unless the
 * caller is an operator. These hosts then need a DNS record of their own within seven days. They
 * are verified again if the wildcard domain returns.
 */
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

/**
 * Checks immediately whether DNS has the record that the domain's `proof` describes. If so, the
 * domain becomes verified, unless another company has proved that it owns the host. Returns the
 * domain with the result of the check, and with the IP addresses of the host.
 */
export const checkDomain = endpoint({
  method: 'POST',
  path: '/domain/{id}/check',
  access: 'admin',
  versioned: 'settings',
  input: z.strictObject({ id: Id }),
  output: DomainDetails
})

/**
 * Moves a domain to another company. The domain gets a new id, the name of that company, and the
 * theme and language of that company's oldest domain. The domain's other settings, its draft and
 * its earlier themes are removed. Its session tokens and event streams stop working immediately.
 * Fails with `domain_needed` for the primary or only domain of a company, and with `host_taken` if
 * the other company has already claimed the host.
 */
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
 * Makes a domain the company's primary domain. Links in mails that were already sent do not change.
 * Does nothing if the domain is the primary one already. Fails with `domain_unsuitable` for a
 * wildcard and for a domain that is not verified.
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

/** Returns the themes of a domain: the published one, the draft and the earlier ones. */
export const getDomainThemes = endpoint({
  method: 'GET',
  path: '/domain/{id}/theme',
  access: 'admin',
  versioned: 'content',
  input: z.strictObject({ id: Id }),
  output: DomainThemes
})

/**
 * Saves a draft of a domain's theme. Pages do not change until the draft is published. Parts that
 * the input does not contain come from the previous draft or, if there is none, from the published
 * theme.
 */
export const saveThemeDraft = endpoint({
  method: 'PUT',
  path: '/domain/{id}/theme',
  access: 'admin',
  versioned: 'content',
  input: z.extend(ThemeChanges, { id: Id }),
  output: DomainThemes,
  errors: ['changed_meanwhile', 'svg_refused']
})

/** Deletes the draft of a domain's theme. Does nothing if there is no draft. */
export const deleteThemeDraft = endpoint({
  method: 'DELETE',
  path: '/domain/{id}/theme',
  access: 'admin',
  versioned: 'content',
  input: z.strictObject({ id: Id }),
  output: z.void(),
  errors: ['changed_meanwhile']
})

/**
 * Publishes the draft of a domain's theme: the pages show it from now on. Does nothing if there is
 * no draft.
 */
export const publishTheme = endpoint({
  method: 'POST',
  path: '/domain/{id}/publish',
  access: 'admin',
  versioned: 'content',
  input: z.strictObject({ id: Id }),
  output: DomainThemes,
  errors: ['changed_meanwhile']
})

/**
 * Publishes an earlier theme of a domain again, under a new number. `number` is the number of the
 * earlier theme. The draft does not change.
 */
export const publishEarlierTheme = endpoint({
  method: 'POST',
  path: '/domain/{id}/restore',
  access: 'admin',
  versioned: 'content',
  input: z.strictObject({ id: Id, number: z.number().check(z.int(), z.gte(1)) }),
  output: DomainThemes,
  errors: ['changed_meanwhile']
})

/**
 * Returns the configuration of a host's pages. The path is a single parameter and so matches many
 * other paths. The server therefore mounts this call after all others.
 */
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

/**
 * The calls with which administrators and operators manage domains. `getDomainConfig` is not one of
 * them: it is public, and the server mounts it after all other calls.
 */
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
