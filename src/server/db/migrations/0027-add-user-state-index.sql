-- Finds the few people of a state, such as those who are disabled, without reading all.
create index user_state on "user" (company_id, state, id) where deleted_at is null;
