import pg from 'pg'
import { socketConnectionConfig } from '../../../src/server/db/postgres.ts'

/**
 * Adds past requests to the history of the person with this e-mail: one per hour, going back from
 * midnight. Every tenth has failed.
 */
export async function seedRequests(socketDir: string, email: string, count: number): Promise<void> {
  const client = new pg.Client(socketConnectionConfig(socketDir, 'vidimus', 'postgres'))
  await client.connect()
  try {
    await client.query(
      `insert into request
         (company_id, id, user_id, kind, state, code, seq, created_at, facts, search_name)
       select company_id, gen_random_uuid(), id, 'deposit',
              case when n % 10 = 0 then 'failed' else 'done' end,
              case when n % 10 = 0 then 'internal' end, 0,
              date_trunc('day', now()) - n * interval '1 hour',
              jsonb_build_object('name', 'seeded ' || n || '.pdf', 'size', n * 1000,
                                 'reduced_from', jsonb_build_object('bytes', 3000000, 'w', 4000, 'h', 3000)),
              'seeded ' || n || '.pdf'
         from "user", generate_series(1, $2) n where email = $1`,
      [email, count]
    )
  } finally {
    await client.end()
  }
}
