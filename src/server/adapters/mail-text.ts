import { formatDateTime } from '../../core/text/format.ts'
import { type ThemeTokenName, themeTokens } from '../../core/theme/theme-colors.ts'
import en from '../../i18n/en/mails.json' with { type: 'json' }
import fr from '../../i18n/fr/mails.json' with { type: 'json' }
import { languageTag, translator } from '../../i18n/index.ts'
import type { MailMessage } from '../domain/deps.ts'

const words = { en, fr }

/** The plain text contains every sentence of the HTML version. */
export function mailText(mail: MailMessage): { subject: string; text: string } {
  const { title, paragraphs, button, footer } = partsOf(mail)
  const text = [title, ...paragraphs, `${button}\n${mail.link}`, `-- \n${footer}`].join('\n\n')
  return { subject: title, text: `${text}\n` }
}

/** Styles are inline, because mail programs ignore style sheets. */
export function mailHtml(mail: MailMessage): string {
  const { title, paragraphs, button, footer } = partsOf(mail)
  const { light, dark } = themeTokens(mail.from.colors)
  const tokens = mail.from.colors.dark ? dark : light
  const of = (name: ThemeTokenName) => tokens[name]
  const ink = `color:${of('--color-base-content')}`
  const soft = `color:${of('--ink-soft')};font-size:14px;line-height:21px`
  const body = paragraphs.map(text => element('p', `margin:0 0 16px;${ink}`, escaped(text)))
  const link =
    `<a href="${escaped(mail.link)}" style="display:inline-block;padding:12px 20px;` +
    `border-radius:12px;text-decoration:none;font-weight:600;` +
    `background:${of('--color-primary')};color:${of('--color-primary-content')}">${escaped(button)}</a>`
  const address = `<a href="${escaped(mail.link)}" style="color:${of('--color-secondary')};word-break:break-all">${escaped(mail.link)}</a>`
  const sheet = [
    element('p', `margin:0 0 24px;font-weight:600;${soft}`, escaped(shortened(mail.from.company))),
    element('h1', `margin:0 0 16px;font:600 24px/32px Georgia,serif;${ink}`, escaped(title)),
    ...body,
    element('p', 'margin:24px 0', link),
    element('p', `margin:0;${soft}`, address)
  ].join('\n')
  return `<!doctype html>
<html lang="${languageTag(mail.locale)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="${mail.from.colors.dark ? 'dark' : 'light'}">
<title>${escaped(title)}</title>
</head>
<body style="margin:0;padding:24px 12px;background:${of('--color-base-200')};font:16px/24px system-ui,sans-serif">
<div style="max-width:560px;margin:0 auto;padding:32px 24px;border:1px solid ${of('--color-base-300')};border-radius:16px;background:${of('--color-base-100')}">
${sheet}
</div>
<p style="max-width:560px;margin:16px auto 0;padding:0 24px;${soft}">${escaped(footer)}</p>
</body>
</html>
`
}

// administrators choose names freely
const maxName = 60

function partsOf({ kind, locale, to, from, key }: MailMessage) {
  const t = translator(locale, words[locale])
  const { company, host, contact } = from
  const about = key && {
    key: shortened(key.name),
    hint: key.hint,
    date: formatDateTime(key.expires, locale, 'UTC')
  }
  const values = { company: shortened(company), host, email: to, ...about }
  const help = contact === undefined ? '' : ` ${t('contact', { contact })}`
  return {
    title: t(`${kind}.title`, values),
    paragraphs: [t(`${kind}.text`, values), t(`${kind}.note`, values)],
    button: t(`${kind}.button`, values),
    footer: t('footer', values) + help
  }
}

function shortened(name: string): string {
  const characters = [...name]
  return characters.length > maxName ? `${characters.slice(0, maxName - 1).join('')}…` : name
}

function element(name: string, style: string, inner: string): string {
  return `<${name} style="${style}">${inner}</${name}>`
}

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;'
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, char => entities[char] ?? char)
}
