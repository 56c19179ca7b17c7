import * as z from 'zod/mini'
import { endpoint } from './endpoint.ts'

const Colour = z.string().check(z.regex(/^#[0-9a-f]{6}$/))

/** A company's colours; what is absent is the product's own. `dark` makes dark the default. */
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

/** `favicon` and `logo` are SVG text. */
export const Theme = z.object({ colors: Colours, favicon: z.string(), logo: z.string() })
export type Theme = z.infer<typeof Theme>

export const Locale = z.enum(['en', 'fr'])
export type Locale = z.infer<typeof Locale>

/** What a host's pages need to know of it. `name` is the host's display name, `version` grows with each change. */
export const DomainConfig = z.object({
  name: z.string(),
  title: z.string(),
  company: z.string(),
  theme: Theme,
  public: z.boolean(),
  locale: Locale,
  contact: z.optional(z.string()),
  version: z.number()
})
export type DomainConfig = z.infer<typeof DomainConfig>

export const HostName = z
  .string()
  .check(
    z.maxLength(253),
    z.regex(/^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/)
  )

/** Mounted last: its path would swallow every other one-segment path. */
export const getDomainConfig = endpoint({
  method: 'GET',
  path: '/{domain}',
  access: 'public',
  suspended: true,
  input: z.strictObject({ domain: HostName }),
  output: DomainConfig,
  errors: ['unknown_domain']
})
