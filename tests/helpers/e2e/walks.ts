/** The files whose tests walk through many pages or states, and take longest. */
export const walks = [
  '**/states.spec.ts',
  '**/hardening.spec.ts',
  '**/pages.spec.ts',
  '**/keyboard.spec.ts',
  '**/admin/first-day.spec.ts'
]
