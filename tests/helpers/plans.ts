import type { Db } from '../../src/server/db/open.ts'
import { type CompanyId, inCompany } from '../../src/server/db/scope.ts'

interface PlanNode {
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  'Rows Removed by Index Recheck'?: number
  'Relation Name'?: string
  Plans?: PlanNode[]
}

/**
 * Returns the number of table and index rows that a statement of the product reads, run with the
 * rights of the product.
 */
export async function countRowsRead(
  db: Db,
  company: CompanyId,
  { text, values }: { text: string; values: unknown[] }
): Promise<number> {
  const [answer] = await inCompany(db, company, tx =>
    tx.raw<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>({
      text: `explain (analyze, format json) ${text}`,
      values
    })
  )
  if (!answer) throw new Error('no plan')
  return countRows(answer['QUERY PLAN'][0].Plan)
}

function countRows(node: PlanNode): number {
  const passed = node['Actual Rows']
  const left = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0)
  const own = node['Relation Name'] ? (passed + left) * node['Actual Loops'] : 0
  return (node.Plans ?? []).reduce((sum, each) => sum + countRows(each), own)
}
