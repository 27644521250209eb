-- Whether a slot reads as a shape: empty, '()', or non-negative integers separated by commas.
create or replace temp macro is_shape_slot(slot) as
    slot = '' or slot = '()' or regexp_full_match(slot, '[0-9]{1,12}( *, *[0-9]{1,12})*')
