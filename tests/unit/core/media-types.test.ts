import { expect, test } from 'vitest'
import {
  acceptsMediaType,
  acceptsPictures,
  mediaTypesByKind,
  separateCompleteMediaKinds
} from '../../../src/core/media-types.ts'

test.each([
  [null, 'video/mp4', true],
  [['application/pdf'], 'application/pdf', true],
  [['application/pdf'], 'application/pdfx', false],
  [['image/*'], 'image/png', true],
  [['image/*'], 'imagexpng', false],
  [['application/pdf', 'image/*'], 'text/plain', false],
  [[], 'text/plain', false]
])('%j takes %s: %s', (accepted, type, expected) => {
  expect(acceptsMediaType(accepted, type)).toBe(expected)
})

// where no picture is accepted, nothing is said about pictures
test.each([
  [null, true],
  [['image/*'], true],
  [['application/pdf', 'image/png'], true],
  [['application/pdf'], false],
  [[], false]
])('%j takes pictures: %s', (accepted, expected) => {
  expect(acceptsPictures(accepted)).toBe(expected)
})

test('knows the kinds of which a list contains all types', () => {
  const [first = '', ...rest] = mediaTypesByKind.office
  expect(separateCompleteMediaKinds(['image/*', ...rest, first, 'audio/mpeg'])).toEqual({
    kinds: ['pictures', 'office'],
    others: ['audio/mpeg']
  })
  expect(separateCompleteMediaKinds([first, 'image/png'])).toEqual({
    kinds: [],
    others: [first, 'image/png']
  })
})
