import { expect, test } from 'vitest'
import { createSpeedMeter } from '../../../../src/core/files/transfer-speed.ts'

test('tells the speed at once and the time left after three seconds', () => {
  const pace = createSpeedMeter()
  expect(pace(0, 0, 1000)).toEqual({})
  expect(pace(1000, 100, 1000)).toEqual({ bytesPerSecond: 100 })
  expect(pace(3000, 300, 1000)).toEqual({ bytesPerSecond: 100, secondsLeft: 7 })
})

test('forgets what is older than five seconds', () => {
  const pace = createSpeedMeter()
  for (let second = 0; second <= 10; second++) pace(second * 1000, second * 1000, 100_000)
  for (let second = 11; second < 15; second++) pace(second * 1000, 10_000, 100_000)
  expect(pace(15_000, 10_000, 100_000)).toEqual({ bytesPerSecond: 0 })
})

test('starts anew where the server stands when it held less', () => {
  const pace = createSpeedMeter()
  pace(0, 0, 1000)
  pace(1000, 500, 1000)
  expect(pace(2000, 100, 1000)).toEqual({})
  expect(pace(3000, 200, 1000)).toMatchObject({ bytesPerSecond: 100 })
})
