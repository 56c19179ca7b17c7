-- Categories are changed by administrators, who name the version that they have seen.
alter table category
  add column version bigint not null default 1,
  -- how long the file of a deposit is stored; null = without end
  add column retention text check (retention ~ '^P[1-9][0-9]{0,2}[DMY]$'),
  add column search_en text not null generated always as (fold_text(coalesce(names->>'en', ''))) stored,
  add column search_fr text not null generated always as (fold_text(coalesce(names->>'fr', ''))) stored;

-- Two categories of one name could not be told apart. Until now only the service itself made
-- categories, one for each company.
create unique index category_name_en on category (company_id, search_en);
create unique index category_name_fr on category (company_id, search_fr);
create index category_created on category (company_id, created_at, id);

-- A category in which nobody deposited is deleted.
grant delete on category to vidimus_app;
-- Find what was deposited in a category, also for the foreign keys.
create index deposit_category on deposit (company_id, category_id);
create index upload_category on upload (company_id, category_id);
create index group_category_category on group_category (company_id, category_id);
