-- The word in a Runtime text cell, null when it is blank or spells a missing value.
create or replace temp macro attention_word(cell) as nullif(nullif(trim(cell), ''), 'nan')
