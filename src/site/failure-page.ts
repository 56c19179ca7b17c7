import type { Locale, Messages } from '../i18n/index.ts'

/** Allows style sheets and fonts, and no scripts. */
export const failurePageCsp =
  "default-src 'none'; style-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** The first 5xx status of the error or its causes, otherwise 500. */
export function failureStatus(cause: unknown): number {
  for (let error = cause; error instanceof Error; error = error.cause) {
    if ('status' in error && isServerStatus(error.status)) return error.status
  }
  return 500
}

function isServerStatus(status: unknown): status is number {
  return Number.isInteger(status) && Number(status) >= 500 && Number(status) <= 599
}

/**
 * Works without the database and scripts. Its meta element makes Astro's ClientRouter show it
 * without a full page load, so that a failed navigation does not interrupt uploads.
 */
export function failurePage(
  { messages, styles }: { messages: Record<Locale, Messages>; styles: readonly string[] },
  { locale, status, id }: { locale: Locale; status: number; id: string }
): string {
  const word = (key: string) => escapeHtml(wordOf(messages[locale], key))
  return `<!doctype html>
<html lang="${locale === 'fr' ? 'fr-FR' : 'en-US'}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<meta name="astro-view-transitions-enabled" content="true">
<title>${word('failure.title')}</title>
${styles.map(path => `<link rel="stylesheet" href="${path}">`).join('\n')}
</head>
<body>
<main id="main" class="page page-task">
<div class="sheet grid gap-3">
<h1 class="page-title">${word('failure.title')}</h1>
<p>${word('failure.text')}</p>
<p class="meta">${word('failure.status')} ${status}</p>
<p class="meta">${word('failure.request')} <code class="fingerprint">${id}</code></p>
<p><a href="/${locale}">${word('notFound.home')}</a></p>
<p><a href="/${locale}/verify">${word('notFound.verify')}</a></p>
</div>
</main>
</body>
</html>
`
}

function wordOf(words: Messages, key: string): string {
  let found: string | Messages | undefined = words
  for (const part of key.split('.')) found = typeof found === 'object' ? found[part] : undefined
  return typeof found === 'string' ? found : key
}

function escapeHtml(text: string): string {
  const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
  return text.replace(/[&<>"]/g, character => entities[character] ?? character)
}
