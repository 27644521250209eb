-- Whether a row does not say that its runtime metadata is complete.
create or replace temp macro attention_is_legacy(completeness) as
    coalesce(lower(trim(completeness)) in ('', 'nan', 'legacy'), true)
