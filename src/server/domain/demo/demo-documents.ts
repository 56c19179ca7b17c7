import { createHash } from 'node:crypto'
import { makeCsv, makeJpeg, makePdf, makePng, makeWav, sampleDataNotice } from './demo-files.ts'

export type DemoDepositOutcome = 'done' | 'failed' | 'cancelled' | 'lapsed' | 'uploading'

export interface DemoDocument {
  kind: 'deposit'
  // in days since the demonstration's first day
  day: number
  name: string
  media_type: string
  outcome: DemoDepositOutcome
  // when needed: making those of all documents together would delay other work
  makeBytes: () => Uint8Array
  // the original, if the document is a reduced copy of a picture
  reducedFrom?: { sha256: string; bytes: number; w: number; h: number }
}

export interface DemoVerification {
  kind: 'verify'
  day: number
  // a name of no document stands for a file that nobody has deposited
  names: string[]
}

export const demoHistoryDays = 170
const reducedSize = { w: 600, h: 450 }
const checkDays = [24.6, 52.4, 91.7, 128.5, 150.2, 168.6]

export function demoHistory(): (DemoDocument | DemoVerification)[] {
  const documents = sheets.map(([day, name, outcome = 'done'], index): DemoDocument => {
    return { kind: 'deposit', day, name, outcome, ...describeFile(name, index) }
  })
  const kept = (before: number) =>
    documents.filter(each => each.outcome === 'done' && each.day < before).map(each => each.name)
  const [first = 0, second = 0, third = 0, fourth = 0, fifth = 0, sixth = 0] = checkDays
  const checks: DemoVerification[] = [
    { kind: 'verify', day: first, names: kept(first).slice(-1) },
    { kind: 'verify', day: second, names: ['Avenant non signé.pdf'] },
    {
      kind: 'verify',
      day: third,
      names: kept(third).slice(0, 9).concat('a.pdf', 'b.pdf', 'c.pdf')
    },
    { kind: 'verify', day: fourth, names: ['Façade avant travaux.jpg'] },
    { kind: 'verify', day: fifth, names: kept(fifth).slice(-3) },
    { kind: 'verify', day: sixth, names: ['Copie scannée du bail.pdf'] }
  ]
  return [...documents, ...checks].sort((a, b) => a.day - b.day)
}

export function sha256Hex(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex')
}

const sheets: [day: number, name: string, outcome?: DemoDepositOutcome][] = [
  [1.4, 'Bail commercial, 12 rue des Tanneurs.pdf'],
  [3.6, 'Acte de vente Lambert.pdf'],
  [3.7, 'Plan cadastral, section B.png'],
  [9.5, 'Inventaire du mobilier.csv'],
  [12.4, 'Procuration Berger.pdf'],
  [17.6, 'Notes de rendez-vous.txt'],
  [21.5, 'Façade avant travaux.jpg'],
  [24.4, 'Devis de toiture.pdf', 'cancelled'],
  [28.6, 'Statuts de la société Orme.pdf'],
  [33.4, 'Relevé de compte.xml'],
  [38.5, 'Testament olographe Petit.pdf'],
  [41.6, 'Sceau de l’étude.svg'],
  [47.4, 'Lecture de l’acte.wav'],
  [52.6, 'Courrier du syndic.eml'],
  [55.5, 'Diagnostic énergétique.pdf', 'failed'],
  [55.6, 'Diagnostic énergétique, second envoi.pdf'],
  [61.4, 'Quittances de loyer.csv'],
  [66.5, 'Contrat de mariage Roux.pdf'],
  [70.6, 'Rendez-vous de signature.ics'],
  [74.4, 'Certificat d’urbanisme.pdf'],
  [79.5, 'Plan du rez-de-chaussée.png'],
  [83.6, 'État des lieux.html'],
  [88.4, 'Photographies du grenier.jpg', 'lapsed'],
  [91.5, 'Reconnaissance de dette.pdf'],
  [96.6, 'Compromis Fabre.pdf'],
  [101.4, 'Registre des assemblées.json'],
  [106.5, 'Mainlevée d’hypothèque.pdf'],
  [111.6, 'Cuisine après travaux.jpg'],
  [117.4, 'Partage successoral.pdf'],
  [122.5, 'Tableau d’amortissement.csv'],
  [127.6, 'Attestation immobilière.pdf'],
  [133.4, 'Brouillon de bail.pdf', 'cancelled'],
  [139.5, 'Procès-verbal de carence.txt'],
  [145.6, 'Servitude de passage.pdf'],
  [149.4, 'Numérisation du dossier 114.pdf', 'lapsed'],
  [155.5, 'Plan de bornage.png', 'failed'],
  [160.6, 'Donation Girard.pdf'],
  [166.4, 'Avenant au bail commercial.pdf'],
  [169.6, 'Enregistrement de l’assemblée.wav', 'uploading'],
  [169.9, 'Archives de l’étude, 1998.pdf', 'uploading']
]

type DescribedFile = Pick<DemoDocument, 'media_type' | 'makeBytes' | 'reducedFrom'>

function describeFile(name: string, index: number): DescribedFile {
  const title = name.replace(/\.\w+$/, '')
  const extension = name.split('.').at(-1) ?? ''
  const make = makers[extension]
  if (!make) throw new Error(`no maker for ${extension}`)
  return make(title, index)
}

const makers: Record<string, (title: string, index: number) => DescribedFile> = {
  pdf: (title, index) => ({
    media_type: 'application/pdf',
    makeBytes: () => makePdf(title, 1 + (index % 5) * 3)
  }),
  png: (_title, index) => ({
    media_type: 'image/png',
    makeBytes: () => makePng(320 + index * 8, 240)
  }),
  jpg: (title, index) => ({
    media_type: 'image/jpeg',
    makeBytes: () => makeJpeg(reducedSize.w, reducedSize.h, index),
    reducedFrom: {
      sha256: sha256Hex(`${title}, 4032 × 3024`),
      bytes: 3_400_000 + index * 10_007,
      w: 4032,
      h: 3024
    }
  }),
  wav: (_title, index) => ({ media_type: 'audio/wav', makeBytes: () => makeWav(20 + index) }),
  txt: textFile(
    'text/plain',
    (title, index) => `${title}\n\n${sampleDataNotice.repeat(3 + index)}`
  ),
  csv: textFile('text/csv', (title, index) => makeCsv(title, 400 * (index % 7))),
  xml: textFile(
    'application/xml',
    title => `<?xml version="1.0"?>\n<document><titre>${title}</titre></document>\n`
  ),
  svg: textFile(
    'image/svg+xml',
    title =>
      `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><title>${title}</title><circle cx="32" cy="32" r="24" fill="#1f5c43"/></svg>\n`
  ),
  eml: textFile(
    'message/rfc822',
    title =>
      `From: syndic@example.com\r\nTo: etude@example.com\r\nSubject: ${title}\r\n\r\n${sampleDataNotice}`
  ),
  ics: textFile(
    'text/calendar',
    title => `BEGIN:VCALENDAR\r\nVERSION:2.0\r\nX-WR-CALNAME:${title}\r\nEND:VCALENDAR\r\n`
  ),
  html: textFile(
    'text/html',
    title => `<!doctype html><title>${title}</title><h1>${title}</h1><p>${sampleDataNotice}</p>\n`
  ),
  json: textFile(
    'application/json',
    title => `${JSON.stringify({ titre: title, lignes: Array(300).fill(sampleDataNotice) })}\n`
  )
}

function textFile(
  media_type: string,
  makeText: (title: string, index: number) => string
): (title: string, index: number) => DescribedFile {
  return (title, index) => ({ media_type, makeBytes: () => Buffer.from(makeText(title, index)) })
}
