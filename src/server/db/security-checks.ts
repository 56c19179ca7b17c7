import { appDatabaseRole } from './connection-config.ts'
import { type Db, poolOf } from './open.ts'

// the functions that may run with the rights of their owner; those not named after an act read rows
// of all companies
const definerFunctions = [
  'public.all_companies()',
  'public.company_usage(uuid[], date)',
  'public.erase_audit_values(uuid)',
  'public.first_domains(uuid[])',
  'public.has_own_domain()',
  'public.hosts_of_others_below(text)',
  'public.installed_companies()',
  'public.is_claimed_by_namesake(text, text)',
  'public.is_covered_by(uuid, text)',
  'public.is_proved_host(text)',
  'public.keeps_localhost(uuid)',
  'public.list_companies()',
  'public.list_hosts()',
  'public.move_domain(uuid, uuid, uuid, text, text, jsonb)',
  'public.note_host_change()',
  'public.remove_demo(uuid)',
  'public.remove_invited_people(uuid[])',
  'public.require_own_proofs(text, text, timestamptz)',
  'public.resolve_host(text)',
  'public.restore_covered_hosts(uuid, text, timestamp with time zone)'
]
// without the parentheses, spaces and type casts that are removed before the two are compared
const ownCompany = "=NULLIFcurrent_setting'app.company_id',true,''"

/**
 * One sentence for each fault that makes this database unsafe. The process only starts if there are
 * none.
 */
export async function findDatabaseFaults(db: Db): Promise<string[]> {
  const { rows } = await poolOf(db).query<{ fault: string }>(
    `select format('The request role %s is a superuser or bypasses row-level security.', rolname) as fault
       from pg_roles where rolname = current_user and (rolsuper or rolbypassrls)
     union all
     select format('Requests run as %s: let DATABASE_URL log in as ${appDatabaseRole}, or leave DATABASE_OWNER_URL empty.', current_user)
      where current_user <> '${appDatabaseRole}'
     union all
     select format('The request role owns %s.', oid::regclass)
       from pg_class where relowner = (select oid from pg_roles where rolname = current_user)
     union all
     select format('Table %s holds rows of companies without forced row-level security.', c.oid::regclass)
       from pg_class c join pg_attribute a on a.attrelid = c.oid
      where c.relkind in ('r', 'p') and not a.attisdropped
        and (a.attname = 'company_id' or (a.attname = 'id' and c.oid = 'public.company'::regclass))
        and not (c.relrowsecurity and c.relforcerowsecurity
                 and exists (select from pg_policy where polrelid = c.oid))
     union all
     select format('Policy %s of table %s lets requests reach rows of other companies.', polname, polrelid::regclass)
       from pg_policy,
            unnest(array[pg_get_expr(polqual, polrelid), pg_get_expr(polwithcheck, polrelid)]) as rule
      where polpermissive
        and exists (select from unnest(polroles) as role
                     where role = 0 or pg_has_role(current_user, role, 'usage'))
        and regexp_replace(rule, '::(text|uuid)|[()[:space:]]', '', 'g')
            <> case polrelid when 'public.company'::regclass then 'id' else 'company_id' end || $2
     union all
     select format('Function %s runs with its owner''s rights.', oid::regprocedure)
       from pg_proc
      where prosecdef
        and not exists (select from unnest($1::text[]) as known where oid = to_regprocedure(known))
        and pronamespace not in ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)
     union all
     select format('The database setting %s is off.', name)
       from pg_settings
      where name in ('fsync', 'full_page_writes', 'synchronous_commit') and setting = 'off'`,
    [definerFunctions, ownCompany]
  )
  return rows.map(row => row.fault)
}
