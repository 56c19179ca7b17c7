-- People are changed by administrators, who name the version that they have seen.
alter table "user"
  add column version bigint not null default 1,
  -- when the person first chose a password; null for somebody who is invited
  add column activated_at timestamptz,
  -- never, until a session begins
  add column last_seen_at timestamptz not null default '-infinity';

-- The owner may be bound by the policies, and must see the rows of every company.
alter table "user" no force row level security;
alter table user_key no force row level security;
alter table session no force row level security;
update "user" u set activated_at = k.since
  from (select company_id, user_id, min(created_at) as since from user_key group by 1, 2) k
 where k.company_id = u.company_id and k.user_id = u.id;
update "user" u set last_seen_at = s.seen
  from (select company_id, user_id, max(last_seen_at) as seen from session group by 1, 2) s
 where s.company_id = u.company_id and s.user_id = u.id;
alter table session force row level security;
alter table user_key force row level security;
alter table "user" force row level security;

-- Rewrites the table of people once: some seconds for 100,000 of them.
alter table "user" add column state text not null generated always as (
  case when disabled is not null then 'disabled' when activated_at is null then 'invited' else 'active' end
) stored;
-- Each order of the list has the searched text and the state, so that a search or a filter reads no table
-- rows but those that it shows.
drop index user_name;
drop index user_email;
drop index user_created;
create index user_name on "user" (company_id, search, id) include (state) where deleted_at is null;
create index user_email on "user" (company_id, email, id) include (search, state)
  where deleted_at is null;
create index user_created on "user" (company_id, created_at, id) include (search, state)
  where deleted_at is null;
create index user_last_seen on "user" (company_id, last_seen_at, id) include (search, state)
  where deleted_at is null;
-- Few people may administer something.
create index user_permission on "user" (company_id, id)
  where permissions <> '{}' and deleted_at is null;

-- Sign-ups that wait for the e-mail to be confirmed are in the list of people.
alter table signup add column search text not null
  generated always as (fold_text(username || ' ' || email)) stored;
create index signup_name on signup (company_id, search, id);
create index signup_created on signup (company_id, created_at, id);
