import { crc32, deflateSync } from 'node:zlib'

export const sampleDataNotice =
  'Document fictif de démonstration : personnes, lieux et montants sont inventés. ' +
  'Fictional document: people, places and amounts are made up.\n'

// 20 rows more, so that no table is empty
export function makeCsv(title: string, rows: number): string {
  const lines = Array.from({ length: 20 + rows }, (_, row) => `${row + 1};${title};${row * 37}.00`)
  return `numero;objet;montant\n${lines.join('\n')}\n`
}

export function makePdf(title: string, pages: number): Uint8Array {
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
  // the declared encoding has one byte for each accented letter
  return Buffer.from(file, 'latin1')
}

export function makePng(width: number, height: number): Uint8Array {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.writeUInt8(8, 8) // bits of a sample; the other bytes are 0: gray, deflate, no interlace
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

export function makeWav(seconds: number): Uint8Array {
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

// Each square of 8 pixels is one block of a single gray, so two small Huffman tables suffice:
// twelve codes of 4 bits for changes of brightness, and one of 1 bit for the end of a block.
export function makeJpeg(width: number, height: number, seed: number): Uint8Array {
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
