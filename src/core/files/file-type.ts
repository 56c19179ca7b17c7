/** Returns a type without parameters. The extension decides where no reliable type is told. */
export function mediaTypeOfFile(name: string, told: string | undefined): string {
  const type = (told?.split(';')[0] ?? '').trim().toLowerCase()
  const isType = type.length <= 127 && /^[a-z0-9][\w!#$&^.+-]*\/[a-z0-9][\w!#$&^.+-]*$/.test(type)
  if (isType && !unreliable.has(type)) return type
  const byName = typesByExtension.get(/\.([^./\\]+)$/.exec(name.trim())?.[1]?.toLowerCase() ?? '')
  return byName ?? (isType ? type : 'application/octet-stream')
}

// told for files of another type: types of unknown bytes, of forms and downloads; the container of
// a format; the program that would open the file; outdated names
const unreliable = new Set(
  (
    'application/octet-stream application/octetstream binary/octet-stream application/binary ' +
    'application/unknown application/x-unknown unknown/unknown application/x-unknown-content-type ' +
    'application/download application/x-download application/force-download ' +
    'application/x-force-download application/save application/file text/plain ' +
    'application/x-www-form-urlencoded application/text text/xml application/xml ' +
    'application/zip application/x-zip application/x-zip-compressed application/x-compressed ' +
    'multipart/x-zip application/x-ole-storage application/cdfv2 application/vnd.ms-office ' +
    'application/msword application/vnd.ms-excel application/vnd.ms-powerpoint ' +
    'application/excel application/x-excel application/x-msexcel application/powerpoint ' +
    'application/csv application/x-csv text/x-csv text/comma-separated-values ' +
    'text/x-comma-separated-values application/x-pdf application/acrobat applications/vnd.pdf ' +
    'text/pdf text/x-pdf image/jpg image/pjpeg image/x-png image/x-ms-bmp image/tif image/x-tif ' +
    'image/x-tiff application/tif application/tiff text/x-markdown application/x-tex'
  ).split(' ')
)

const office = 'application/vnd.openxmlformats-officedocument.'
const openDocument = 'application/vnd.oasis.opendocument.'

const extensions = {
  'application/pdf': 'pdf',
  'application/postscript': 'ps eps ai',
  'application/rtf': 'rtf',
  'application/json': 'json',
  'application/xml': 'xml xsd xsl',
  'application/zip': 'zip',
  'application/gzip': 'gz tgz',
  'application/x-7z-compressed': '7z',
  'application/vnd.rar': 'rar',
  'application/x-tar': 'tar',
  'application/epub+zip': 'epub',
  'application/msword': 'doc dot',
  'application/vnd.ms-excel': 'xls xlt',
  'application/vnd.ms-powerpoint': 'ppt pps pot',
  'application/vnd.ms-outlook': 'msg',
  'application/vnd.visio': 'vsd',
  [`${office}wordprocessingml.document`]: 'docx',
  [`${office}wordprocessingml.template`]: 'dotx',
  [`${office}spreadsheetml.sheet`]: 'xlsx',
  [`${office}spreadsheetml.template`]: 'xltx',
  [`${office}presentationml.presentation`]: 'pptx',
  [`${office}presentationml.slideshow`]: 'ppsx',
  'application/vnd.ms-word.document.macroenabled.12': 'docm',
  'application/vnd.ms-excel.sheet.macroenabled.12': 'xlsm',
  'application/vnd.ms-powerpoint.presentation.macroenabled.12': 'pptm',
  [`${openDocument}text`]: 'odt',
  [`${openDocument}spreadsheet`]: 'ods',
  [`${openDocument}presentation`]: 'odp',
  [`${openDocument}graphics`]: 'odg',
  'application/vnd.apple.pages': 'pages',
  'application/vnd.apple.numbers': 'numbers',
  'application/vnd.apple.keynote': 'key',
  'application/pkcs7-signature': 'p7s',
  'application/pkcs7-mime': 'p7m p7c',
  'image/jpeg': 'jpg jpeg jpe jfif',
  'image/png': 'png apng',
  'image/gif': 'gif',
  'image/webp': 'webp',
  'image/avif': 'avif',
  'image/heic': 'heic',
  'image/heif': 'heif',
  'image/tiff': 'tif tiff',
  'image/bmp': 'bmp dib',
  'image/svg+xml': 'svg svgz',
  'image/jp2': 'jp2',
  'image/jxl': 'jxl',
  'image/vnd.adobe.photoshop': 'psd',
  'image/vnd.dxf': 'dxf',
  'image/vnd.dwg': 'dwg',
  'image/x-adobe-dng': 'dng',
  'image/x-canon-cr2': 'cr2',
  'image/x-nikon-nef': 'nef',
  'image/x-sony-arw': 'arw',
  'text/plain': 'txt text log',
  'text/csv': 'csv',
  'text/tab-separated-values': 'tsv tab',
  'text/markdown': 'md markdown mdown',
  'text/html': 'html htm',
  'text/css': 'css',
  'text/calendar': 'ics',
  'text/vcard': 'vcf',
  'text/x-tex': 'tex',
  'text/yaml': 'yaml yml',
  'message/rfc822': 'eml',
  'audio/mpeg': 'mp3',
  'audio/mp4': 'm4a',
  'audio/wav': 'wav',
  'audio/ogg': 'ogg oga opus',
  'audio/flac': 'flac',
  'video/mp4': 'mp4 m4v',
  'video/quicktime': 'mov qt',
  'video/webm': 'webm',
  'video/x-matroska': 'mkv',
  'video/x-msvideo': 'avi',
  'video/mpeg': 'mpg mpeg'
}

const typesByExtension = new Map(
  Object.entries(extensions).flatMap(([type, names]) =>
    names.split(' ').map(name => [name, type] as const)
  )
)
