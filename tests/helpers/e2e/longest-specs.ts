/**
 * The browser test files that take longest, because their tests visit many pages or states or are long journeys.
 * Playwright runs them as the project `longest`.
 */
export const longestSpecs = [
  '**/firefox.spec.ts',
  '**/admin/companies.spec.ts',
  '**/states.spec.ts',
  '**/hardening.spec.ts',
  '**/pages.spec.ts',
  '**/keyboard.spec.ts',
  '**/accounts/me.spec.ts',
  '**/admin/first-day.spec.ts'
]
