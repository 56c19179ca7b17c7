-- What the history is searched and filtered by, out of `facts`, so that they go wherever those go.
alter table request
  -- the document's name as searches compare it (core/search.ts)
  add column search_name text,
  add column category_id uuid;
-- Older names are folded as nearly as SQL can: outside Latin script, capitals stay.
update request
  set search_name = lower(regexp_replace(normalize(facts->>'name', NFKD), '[\u0300-\u036f]', '', 'g')),
      category_id = (facts->>'category_id')::uuid
  where kind = 'deposit';
-- Neither changes while a request goes through its states, so those updates leave the index alone.
create index request_category on request (company_id, user_id, category_id, created_at desc, id desc)
  where category_id is not null;
