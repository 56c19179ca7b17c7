import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import type { TestPerson } from '../app.ts'

const prefix = 'open'

/**
 * Adds unfinished uploads of one byte to the database. No call has made them, and no quota counts
 * them.
 */
export async function insertOpenUploads(
  owner: pg.Pool,
  { id, category }: Pick<TestPerson, 'id' | 'category'>,
  count: number
): Promise<void> {
  await owner.query(
    `with g as (
       select company_id, group_id from group_category join group_user using (company_id, group_id)
       where category_id = $2 and user_id = $1 limit 1
     ), made as (
       insert into request (company_id, id, user_id, kind, state, seq, created_at, facts)
       select g.company_id, gen_random_uuid(), $1, 'deposit', 'uploading', 0, now(), '{}'
       from g, generate_series(1, $3::int)
       returning company_id, id
     )
     insert into upload (
       company_id, id, request_id, user_id, category_id, record_id, size, media_type, name, state,
       group_id, period_start, released, original, stored, created_at, active_at
     )
     select made.company_id, $4 || made.id, made.id, $1, $2, '', 1, 'text/plain', 'a', 'uploading',
       g.group_id, now(), 1, '', '', now(), now()
     from made, g`,
    [id, category, count, `${prefix}-${randomUUID()}-`]
  )
}

/** Deletes the uploads that `insertOpenUploads` has added. */
export async function deleteOpenUploads(
  owner: pg.Pool,
  { id }: Pick<TestPerson, 'id'>
): Promise<void> {
  await owner.query(
    `with gone as (
       delete from upload where user_id = $1 and id like $2 returning company_id, request_id
     )
     delete from request r using gone
     where (r.company_id, r.id) = (gone.company_id, gone.request_id)`,
    [id, `${prefix}-%`]
  )
}
