-- Groups are changed by administrators, who name the version that they have seen.
alter table "group" add column version bigint not null default 1;

-- A text as searches compare it, and as lists are sorted by it (core/text/search-words.ts): without case
-- and accents. The database lowers the letters of ASCII alone, so the Greek and Cyrillic ones are named.
create function fold_text(given text) returns text
language sql immutable parallel safe
as $$
  select pg_catalog.translate(
    pg_catalog.lower(pg_catalog.regexp_replace(normalize(given, NFKD), '[\u0300-\u036f]', '', 'g')),
    'ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩАБВГДЕЖЗИКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯЂЄІЈЉЊЋЏҐØŁĐÐÞÆŒ',
    'αβγδεζηθικλμνξοπρστυφχψωабвгдежзиклмнопрстуфхцчшщъыьэюяђєіјљњћџґøłđðþæœ'
  )
$$;

alter table "group" add column search text not null generated always as (fold_text(name)) stored;
-- Two groups of one name could not be told apart. Until now only the service itself made groups, one for
-- each company.
create unique index group_name on "group" (company_id, search);

-- Rewrites the table of people once: some seconds for 100,000 of them.
alter table "user" add column search text not null
  generated always as (fold_text(username || ' ' || email)) stored;
-- One for each order of the list. Each has the searched text, so that a search reads no table rows but
-- those that it shows.
create index user_name on "user" (company_id, search, id) where deleted_at is null;
create index user_email on "user" (company_id, email, id) include (search) where deleted_at is null;
create index user_created on "user" (company_id, created_at, id) include (search)
  where deleted_at is null;

alter table category add column search text not null
  generated always as (fold_text(coalesce(names->>'en', '') || ' ' || coalesce(names->>'fr', ''))) stored;

-- A group that nobody used is deleted, with its empty counts.
grant delete on "group", usage, user_usage to vidimus_app;
-- Finds what was charged to a group, also for the foreign key.
create index upload_group on upload (company_id, group_id);
