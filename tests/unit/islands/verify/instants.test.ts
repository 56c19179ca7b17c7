import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeVerdict } from '../../../../src/core/pages/verdict-words.ts'
import en from '../../../../src/i18n/en/verify.json' with { type: 'json' }
import { withTranslation } from '../../../../src/islands/kit/use-translation.ts'
import { VerdictSentence } from '../../../../src/islands/verify/VerdictCard.tsx'

const machineZone = process.env.TZ
beforeAll(() => {
  process.env.TZ = 'Asia/Kolkata'
})
afterAll(() => {
  process.env.TZ = machineZone
})

test('the sentence of a verdict has one time, with seconds and the reader’s zone', () => {
  const recorded = '2026-05-03T14:02:07.000Z'
  const description = describeVerdict({
    verdict: 'authentic',
    at: '2026-06-01T08:00:00.000Z',
    findings: [{ match: 'original', recorded, leaf_hash: 'a'.repeat(64) }],
    sources: []
  })
  const html = renderToStaticMarkup(
    createElement(withTranslation(VerdictSentence), {
      description,
      company: 'Acme',
      locale: 'en',
      messages: { verify: en }
    })
  )
  const text = html.replace(/<[^>]*>/g, '').replace(/[\u00a0\u202f]/g, ' ')
  expect(text).toBe(
    'Acme recorded this exact file on May 3, 2026 at 7:32:07 PM (India Standard Time); not one byte has changed since.'
  )
})
