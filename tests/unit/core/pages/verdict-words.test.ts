import { expect, test } from 'vitest'
import { describeVerdict, type VerifiedSubject } from '../../../../src/core/pages/verdict-words.ts'
import { formatExactTime } from '../../../../src/core/text/format.ts'
import enHistory from '../../../../src/i18n/en/history.json' with { type: 'json' }
import enVerify from '../../../../src/i18n/en/verify.json' with { type: 'json' }
import frHistory from '../../../../src/i18n/fr/history.json' with { type: 'json' }
import frVerify from '../../../../src/i18n/fr/verify.json' with { type: 'json' }
import { type Locale, type Messages, translator } from '../../../../src/i18n/index.ts'

const leaf = (digit: string) => digit.repeat(64)
const at = '2026-06-01T08:00:00.000Z'
const may = '2026-05-03T14:02:00.000Z'
const july = '2026-07-01T00:00:00.000Z'

const original = { match: 'original', recorded: may, leaf_hash: leaf('a') } as const
const copy = { match: 'stored_copy', recorded: may, leaf_hash: leaf('b') } as const
const later = { match: 'original', recorded: july, leaf_hash: leaf('c') } as const

const answers = {
  original: { verdict: 'authentic', at, findings: [original], sources: [] },
  stored_copy: { verdict: 'authentic', at, findings: [copy], sources: [] },
  not_found: { verdict: 'not_found', at, findings: [], sources: [] },
  listed: {
    verdict: 'known_to_register',
    at,
    findings: [],
    sources: [{ id: 'diplomas', result: 'found' }]
  },
  silent: {
    verdict: 'indeterminate',
    at,
    findings: [],
    sources: [{ id: 'diplomas', result: 'unreachable' }]
  }
} as const

const words: Record<Locale, Messages> = {
  en: { verify: enVerify, history: enHistory },
  fr: { verify: frVerify, history: frHistory }
}

test.for([
  [
    'original',
    'en',
    'Unchanged',
    'Acme recorded this exact file on May 3, 2026 at 7:32:00 PM UTC+05:30 (2026-05-03 14:02:00 UTC); not one byte has changed since.'
  ],
  [
    'original',
    'fr',
    'Inchangé',
    'Acme a enregistré exactement ce fichier le 3 mai 2026 à 19:32:00 UTC+05:30 (2026-05-03 14:02:00 UTC), sans la moindre modification depuis.'
  ],
  [
    'stored_copy',
    'en',
    'Unchanged copy',
    'This is Acme’s reduced copy of a picture recorded on May 3, 2026 at 7:32:00 PM UTC+05:30 (2026-05-03 14:02:00 UTC); the original had more detail.'
  ],
  [
    'stored_copy',
    'fr',
    'Copie inchangée',
    'Copie réduite, conservée par Acme, d’une image enregistrée le 3 mai 2026 à 19:32:00 UTC+05:30 (2026-05-03 14:02:00 UTC)\u202f; l’original était plus détaillé.'
  ],
  [
    'not_found',
    'en',
    'No record',
    'Acme has no record of this exact file as of June 1, 2026 at 1:30:00 PM UTC+05:30 (2026-06-01 08:00:00 UTC).'
  ],
  [
    'not_found',
    'fr',
    'Absent du registre',
    'Acme n’a aucune trace de ce fichier exact au 1er juin 2026 à 13:30:00 UTC+05:30 (2026-06-01 08:00:00 UTC).'
  ]
] as const)('tells %s in %s', ([name, locale, word, sentence]) => {
  const told = say(name, locale)
  expect(told.word).toBe(word)
  expect(told.sentence).toBe(sentence)
  expect(told.sentence.split(/\s+/).filter(part => /\w/.test(part)).length).toBeLessThanOrEqual(25)
})

const version = 'May 3, 2026 at 7:32:00 PM UTC+05:30 (2026-05-03 14:02:00 UTC)'
const versionFr = '3 mai 2026 à 19:32:00 UTC+05:30 (2026-05-03 14:02:00 UTC)'

test.for([
  [
    'listed',
    'file',
    'en',
    'Listed',
    `This file is not a deposit, but the register “Diplomas” lists it, version of ${version}.`
  ],
  [
    'listed',
    'file',
    'fr',
    'Répertorié',
    `Ce fichier n’est pas un dépôt, mais le registre « Diplomas » le mentionne, version du ${versionFr}.`
  ],
  [
    'listed',
    'reference',
    'en',
    'Listed',
    `Acme lists these details in the register “Diplomas”, version of ${version}.`
  ],
  [
    'listed',
    'reference',
    'fr',
    'Répertorié',
    `Acme mentionne ces éléments dans son registre « Diplomas », version du ${versionFr}.`
  ],
  [
    'not_found',
    'reference',
    'en',
    'No record',
    'Acme has no entry with exactly these details as of June 1, 2026 at 1:30:00 PM UTC+05:30 (2026-06-01 08:00:00 UTC).'
  ],
  [
    'silent',
    'file',
    'en',
    'No answer yet',
    'We cannot tell: the register “Diplomas” did not reply.'
  ],
  [
    'silent',
    'file',
    'fr',
    'Sans réponse',
    'Impossible de conclure : le registre « Diplomas » n’a pas répondu.'
  ]
] as const)('tells %s of a %s in %s', ([name, subject, locale, word, sentence]) => {
  const told = say(name, locale, subject)
  expect(told.word).toBe(word)
  expect(plainSpaces(told.sentence)).toBe(sentence)
})

test('tells a wrong reference to check every field, and a silent register from a “no”', () => {
  expect(describeVerdict(answers.not_found, 'reference').adds).toEqual(['check_fields'])
  expect(describeVerdict(answers.silent).adds).toEqual(['not_a_no'])
})

test.for(['en', 'fr'] as const)('calls the same thing by the same word in history, %s', locale => {
  const t = translator(locale, words[locale])
  for (const key of [
    'original',
    'stored_copy',
    'not_found',
    'known_to_register',
    'indeterminate'
  ]) {
    expect(t(`history.verdicts.${key}`)).toBe(t(`verify.word.${key}`))
  }
})

test('gives a record its seal and its proof, and nothing to what has none', () => {
  expect(describeVerdict(answers.original)).toMatchObject({
    leafHash: leaf('a'),
    adds: []
  })
  expect(describeVerdict(answers.stored_copy)).toMatchObject({ leafHash: leaf('b') })
  expect(describeVerdict(answers.not_found)).toEqual({
    key: 'not_found',
    sentence: 'not_found',
    time: at,
    register: '',
    count: 0,
    leafHash: undefined,
    adds: ['not_false']
  })
})

test('calls nothing unchanged where only a fingerprint was given', () => {
  for (const name of ['original', 'stored_copy'] as const) {
    expect(describeVerdict(answers[name], 'fingerprint')).toMatchObject({
      key: 'fingerprint',
      adds: ['no_file']
    })
  }
  expect(describeVerdict(answers.not_found, 'fingerprint').key).toBe('fingerprint_not_found')
  for (const [locale, unchanged] of [
    ['en', /unchanged|this exact file|not one byte/i],
    ['fr', /inchangé|modification|fichier exact/i]
  ] as const) {
    for (const name of ['original', 'stored_copy', 'not_found'] as const) {
      const { word, sentence } = say(name, locale, 'fingerprint')
      expect(`${word}. ${sentence}`).not.toMatch(unchanged)
    }
  }
})

test('prefers the original to a copy, and the first record to a later one', () => {
  const verdict = 'authentic'
  expect(
    describeVerdict({ verdict, at, findings: [copy, original, later], sources: [] })
  ).toMatchObject({
    key: 'original',
    time: may,
    leafHash: leaf('a')
  })
  expect(describeVerdict({ verdict, at, findings: [original, later], sources: [] }).leafHash).toBe(
    leaf('a')
  )
  expect(describeVerdict({ verdict, at, findings: [copy, later], sources: [] }).leafHash).toBe(
    leaf('c')
  )
})

test('adds to an unknown file that this does not make it false', () => {
  const adds = (locale: Locale) => translator(locale, words[locale])('verify.adds.not_false')
  expect(adds('en')).toBe(
    'That does not make it false. A copy that was opened and saved again is already another file. Ask the sender for the original file, not a scan or a re-saved copy.'
  )
  expect(adds('fr')).toBe(
    'Cela ne le rend pas faux. Une copie rouverte et réenregistrée est déjà un autre fichier. Demandez le fichier d’origine à l’expéditeur, pas un scan ni une copie réenregistrée.'
  )
})

test('claims no truth: integrity is all there is', () => {
  const banned =
    /\b(?:valid|certified|notari[sz]ed|legal value|authentic|genuine|forged|fake|valide|certifié|notarié|valeur légale|authentique|falsifié)\b/i
  for (const text of [...textsOf(words.en), ...textsOf(words.fr)]) expect(text).not.toMatch(banned)
})

test('never puts the company where French would have to elide', () => {
  for (const text of textsOf(words.fr))
    expect(text).not.toMatch(/\b(?:de|que|d’|qu’)\s*\{\{company/)
})

test('sets French as it is printed', () => {
  for (const text of textsOf(words.fr)) {
    expect(text).not.toMatch(/[^\u202f][;!?]/)
    expect(text).not.toMatch(/[^\u00a0]:/)
    expect(text).not.toMatch(/'|"|«[^\u00a0]|[^\u00a0]»/)
  }
})

function say(
  name: keyof typeof answers,
  locale: Locale,
  subject?: VerifiedSubject
): { word: string; sentence: string } {
  const registers = [{ id: 'diplomas', name: 'Diplomas', at: may }]
  const { key, sentence, time, register, count } = describeVerdict(
    answers[name],
    subject,
    registers
  )
  const t = translator(locale, words[locale])
  const when = plainSpaces(formatExactTime(new Date(time), locale, 'Asia/Kolkata'))
  return {
    word: t(`verify.word.${key}`),
    sentence: t(`verify.sentence.${sentence}`, { company: 'Acme', time: when, register, count })
  }
}

/** Replaces no-break and narrow spaces with plain ones. Intl puts such spaces before AM and PM. */
function plainSpaces(text: string): string {
  return text.replace(/[\u00a0\u202f]/g, ' ')
}

function textsOf(words: Messages): string[] {
  return Object.values(words).flatMap(value => (typeof value === 'string' ? value : textsOf(value)))
}
