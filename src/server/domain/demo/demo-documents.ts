import { createHash } from 'node:crypto'
import { crc32, deflateSync } from 'node:zlib'

/** What becomes of a document of the demonstration. */
export type DemoOutcome = 'done' | 'failed' | 'cancelled' | 'lapsed' | 'uploading'

export interface DemoDocument {
  kind: 'deposit'
  /** Days after the company's first day. */
  day: number
  name: string
  media_type: string
  outcome: DemoOutcome
  /** Made when asked for, one at a time: all at once would hold up everybody else. */
  makeBytes: () => Uint8Array
  /** The file before it was reduced: its fingerprint, and what the reduction changed. */
  reducedFrom?: { sha256: string; bytes: number; w: number; h: number }
}

export interface DemoCheck {
  kind: 'verify'
  day: number
  /** Names of documents; any other text is a file that nobody has deposited. */
  names: string[]
}

/** Between the company's first day and the present. */
export const demoDays = 170

const reducedSize = { w: 600, h: 450 }
const checkDays = [24.6, 52.4, 91.7, 128.5, 150.2, 168.6]

/** All that happened in the demonstration, oldest first; the same bytes every time. */
export function demoHistory(): (DemoDocument | DemoCheck)[] {
  const documents = sheets.map(([day, name, outcome = 'done'], index): DemoDocument => {
    return { kind: 'deposit', day, name, outcome, ...describeFile(name, index) }
  })
  const kept = (before: number) =>
    documents.filter(each => each.outcome === 'done' && each.day < before).map(each => each.name)
  const [first = 0, second = 0, third = 0, fourth = 0, fifth = 0, sixth = 0] = checkDays
  const checks: DemoCheck[] = [
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

/** A notary's half year: day, name, and what became of it. */
const sheets: [day: number, name: string, outcome?: DemoOutcome][] = [
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
  txt: (title, index) => ({
    media_type: 'text/plain',
    makeBytes: () => text(`${title}\n\n${paragraph.repeat(3 + index)}`)
  }),
  csv: (title, index) => ({
    media_type: 'text/csv',
    makeBytes: () => makeCsv(title, 400 * (index % 7))
  }),
  xml: title => ({
    media_type: 'application/xml',
    makeBytes: () => text(`<?xml version="1.0"?>\n<document><titre>${title}</titre></document>\n`)
  }),
  svg: title => ({
    media_type: 'image/svg+xml',
    makeBytes: () =>
      text(
        `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><title>${title}</title><circle cx="32" cy="32" r="24" fill="#1f5c43"/></svg>\n`
      )
  }),
  eml: title => ({
    media_type: 'message/rfc822',
    makeBytes: () =>
      text(
        `From: syndic@example.com\r\nTo: etude@example.com\r\nSubject: ${title}\r\n\r\n${paragraph}`
      )
  }),
  ics: title => ({
    media_type: 'text/calendar',
    makeBytes: () =>
      text(`BEGIN:VCALENDAR\r\nVERSION:2.0\r\nX-WR-CALNAME:${title}\r\nEND:VCALENDAR\r\n`)
  }),
  html: title => ({
    media_type: 'text/html',
    makeBytes: () =>
      text(`<!doctype html><title>${title}</title><h1>${title}</h1><p>${paragraph}</p>\n`)
  }),
  json: title => ({
    media_type: 'application/json',
    makeBytes: () =>
      text(`${JSON.stringify({ titre: title, lignes: Array(300).fill(paragraph) })}\n`)
  })
}

const paragraph =
  'Document fictif de démonstration : personnes, lieux et montants sont inventés. ' +
  'Fictional document: people, places and amounts are made up.\n'

function text(content: string): Uint8Array {
  return new TextEncoder().encode(content)
}

function makeCsv(title: string, rows: number): Uint8Array {
  const lines = Array.from({ length: 20 + rows }, (_, row) => `${row + 1};${title};${row * 37}.00`)
  return text(`numero;objet;montant\n${lines.join('\n')}\n`)
}

/** Pages with one line each, in the standard Helvetica. */
function makePdf(title: string, pages: number): Uint8Array {
  const kids = Array.from({ length: pages }, (_, page) => `${4 + page * 2} 0 R`)
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Kids [${kids.join(' ')}] /Count ${pages} >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>'
  ]
  for (let page = 0; page < pages; page++) {
    const line = `${title.replaceAll('’', "'").replace(/[()\\]/g, '\\$&')}, ${page + 1}/${pages}`
    const content = `BT /F1 16 Tf 72 720 Td (${line}) Tj ET`
    objects.push(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents ${5 + page * 2} 0 R /Resources << /Font << /F1 3 0 R >> >> >>`,
      `<< /Length ${content.length} >>\nstream\n${content}\nendstream`
    )
  }
  let file = '%PDF-1.4\n'
  const offsets = objects.map((object, index) => {
    const offset = file.length
    file += `${index + 1} 0 obj\n${object}\nendobj\n`
    return offset
  })
  const entries = offsets.map(offset => `${String(offset).padStart(10, '0')} 00000 n \n`)
  const size = objects.length + 1
  file += `xref\n0 ${size}\n0000000000 65535 f \n${entries.join('')}trailer\n<< /Size ${size} /Root 1 0 R >>\nstartxref\n${file.length}\n%%EOF\n`
  // accents are one byte each there and here
  return Buffer.from(file, 'latin1')
}

/** Grey stripes, drawn like a plan. */
function makePng(width: number, height: number): Uint8Array {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.writeUInt8(8, 8) // bits of a sample; the rest is grey, deflate, no interlace
  const rows = Buffer.alloc((width + 1) * height)
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      rows.writeUInt8(
        x % 40 === 0 || y % 40 === 0 ? 40 : 235 - ((x * y) % 11),
        y * (width + 1) + x + 1
      )
    }
  }
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  const parts = [pngChunk('IHDR', header), pngChunk('IDAT', deflateSync(rows)), pngChunk('IEND')]
  return Buffer.concat([signature, ...parts])
}

function pngChunk(type: string, content: Uint8Array = Buffer.alloc(0)): Buffer {
  const body = Buffer.concat([Buffer.from(type), content])
  const ends = Buffer.alloc(8)
  ends.writeUInt32BE(content.length, 0)
  ends.writeUInt32BE(crc32(body), 4)
  return Buffer.concat([ends.subarray(0, 4), body, ends.subarray(4)])
}

/** A tone of a second, 16 bits, 8 kHz, `seconds` long. */
function makeWav(seconds: number): Uint8Array {
  const rate = 8000
  const samples = rate * seconds
  const file = Buffer.alloc(44 + samples * 2)
  file.write('RIFF', 0)
  file.writeUInt32LE(file.length - 8, 4)
  file.write('WAVEfmt ', 8)
  file.writeUInt32LE(16, 16)
  file.writeUInt16LE(1, 20)
  file.writeUInt16LE(1, 22)
  file.writeUInt32LE(rate, 24)
  file.writeUInt32LE(rate * 2, 28)
  file.writeUInt16LE(2, 32)
  file.writeUInt16LE(16, 34)
  file.write('data', 36)
  file.writeUInt32LE(samples * 2, 40)
  for (let at = 0; at < samples; at++) {
    const fade = 1 - (at % rate) / rate
    file.writeInt16LE(
      Math.round(9000 * fade * Math.sin((at * 440 * 2 * Math.PI) / rate)),
      44 + at * 2
    )
  }
  return file
}

/**
 * A baseline JPEG of flat grey squares, 8 pixels wide: every block is its brightness alone, so twelve
 * codes of 4 bits and one "end of block" of 1 bit are all the coding it needs.
 */
function makeJpeg(width: number, height: number, seed: number): Uint8Array {
  const bits: number[] = []
  const put = (value: number, length: number) => {
    for (let at = length - 1; at >= 0; at--) bits.push((value >> at) & 1)
  }
  let before = 0
  for (let y = 0; y < Math.ceil(height / 8); y++) {
    for (let x = 0; x < Math.ceil(width / 8); x++) {
      const level = ((x * 7 + y * 5 + seed * 3) % 64) - 32
      const change = level - before
      before = level
      const category = 32 - Math.clz32(Math.abs(change))
      put(category, 4)
      put(change < 0 ? change + 2 ** category - 1 : change, category)
      put(0, 1)
    }
  }
  while (bits.length % 8 > 0) bits.push(1)
  const scan: number[] = []
  for (let at = 0; at < bits.length; at += 8) {
    const byte = bits.slice(at, at + 8).reduce((value, bit) => value * 2 + bit, 0)
    scan.push(byte)
    if (byte === 0xff) scan.push(0)
  }
  const segment = (marker: number, ...content: number[]) => [
    ...[0xff, marker, (content.length + 2) >> 8, (content.length + 2) & 0xff],
    ...content
  ]
  const lengths = (counts: Record<number, number>) =>
    Array.from({ length: 16 }, (_, at) => counts[at + 1] ?? 0)
  const categories = Array.from({ length: 12 }, (_, at) => at)
  return Buffer.from([
    ...[0xff, 0xd8],
    ...segment(0xe0, 0x4a, 0x46, 0x49, 0x46, 0, 1, 1, 0, 0, 1, 0, 1, 0, 0),
    ...segment(0xdb, 0, ...Array(64).fill(24)),
    ...segment(0xc0, 8, height >> 8, height & 0xff, width >> 8, width & 0xff, 1, 1, 0x11, 0),
    ...segment(0xc4, 0x00, ...lengths({ 4: 12 }), ...categories),
    ...segment(0xc4, 0x10, ...lengths({ 1: 1 }), 0),
    ...segment(0xda, 1, 1, 0x00, 0, 63, 0),
    ...scan,
    ...[0xff, 0xd9]
  ])
}
