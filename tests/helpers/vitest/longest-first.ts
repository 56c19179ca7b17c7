import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * The test files that take longest, in the order in which they start. Most of them start processes
 * and wait. Vitest by itself would start with the largest files if it has no durations from an
 * earlier run.
 */
export const longestTestFiles = [
  'access/isolation',
  'contract/bad-input',
  'deposits/crash',
  'imports/import-crash',
  'registers/malformed-files',
  'registers/register-imports',
  'registers/register-addresses',
  'db/postgres',
  'companies/usage',
  'api/processes',
  'api/cli',
  'api/database-loss',
  'contract/parsing-cost',
  'access/roles',
  'demo/demo',
  'accounts/accounts',
  'history/histories',
  'contract/fuzz',
  'contract/docs',
  'unit/setup',
  'unit/i18n',
  'unit/boundaries',
  'unit/budget'
]

/**
 * Starts the longest files first. Otherwise, one worker might still run a long file at the end
 * while the others have nothing to do.
 */
export class LongestFirstSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return sorted.toSorted((one, other) => rankOf(one) - rankOf(other))
  }
}

function rankOf({ moduleId }: TestSpecification): number {
  const rank = longestTestFiles.findIndex(name => moduleId.endsWith(`/${name}.test.ts`))
  return rank < 0 ? longestTestFiles.length : rank
}
