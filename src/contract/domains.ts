import * as z from 'zod/mini'
import { endpoint } from './endpoint.ts'
import { Id } from './ids.ts'
import { maxCodeUnits, pattern, rule, textLine } from './text-checks.ts'

const Colour = z.string().check(pattern(/^#[0-9a-f]{6}$/, 'a colour in lower case such as #112233'))

/**
 * The colours of a company's pages. A colour that is absent is that of the standard theme. `dark`
 * makes the dark mode the default.
 */
export const Colours = z.object({
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
export type Colours = z.infer<typeof Colours>

/** The look of a company's pages: colours, and `favicon` and `logo` as SVG text. */
export const Theme = z.object({ colors: Colours, favicon: z.string(), logo: z.string() })
export type Theme = z.infer<typeof Theme>

export const Locale = z.enum(['en', 'fr'])
export type Locale = z.infer<typeof Locale>

/**
 * The configuration of the pages of one host. `name` is the display name. `version` grows with each
 * change.
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
  version: z.number()
})
export type DomainConfig = z.infer<typeof DomainConfig>

/** Schema of a host name in lower case, such as `docs.acme.fr`. */
export const HostName = z
  .string()
  .check(
    maxCodeUnits(253),
    pattern(
      /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/,
      'a host name in lower case such as docs.acme.fr'
    )
  )

const Line = textLine(80)

/** Address of a web page that begins with `https:`. */
const PageAddress = z.string().check(
  maxCodeUnits(500),
  pattern(/^https:\/\/[^\s<>"]+$/, 'an address that begins with https://'),
  rule({ rule: 'format' }, 'an address that begins with https://', text => URL.canParse(text))
)

/**
 * Changes the configuration of a domain: only the fields that the input contains. `colors` is
 * replaced as a whole, and `null` removes `contact`, `privacy` or `terms`. `logo` and `favicon` are
 * SVG text of at most 64 KB without active content. `If-Match` takes a quoted version: if the
 * configuration has another version by now, the call changes nothing.
 */
export const updateDomain = endpoint({
  method: 'PUT',
  path: '/domain/{id}',
  access: 'admin',
  versioned: 'content',
  input: z.strictObject({
    id: Id,
    name: z.optional(Line),
    title: z.optional(Line),
    public: z.optional(z.boolean()),
    locale: z.optional(Locale),
    colors: z.optional(z.strictObject(Colours.shape)),
    logo: z.optional(z.string()),
    favicon: z.optional(z.string()),
    contact: z.optional(z.nullable(Line)),
    privacy: z.optional(z.nullable(PageAddress)),
    terms: z.optional(z.nullable(PageAddress))
  }),
  output: DomainConfig,
  errors: ['changed_meanwhile', 'svg_refused', 'default_group_private']
})

/**
 * Returns the configuration of a host's pages. The server mounts this call last, because its path
 * would match every other path of one segment.
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

export const domainCalls = { updateDomain, getDomainConfig }
