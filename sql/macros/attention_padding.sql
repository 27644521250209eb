-- How many times larger one token count is than another that fills the same blocks, 1 when equal, null when it does not.
-- source: blocks of 16, 32 or 64 tokens, from 64 tokens on of 8
create or replace temp macro attention_padding(asked, measured) as
    case when asked = measured then 1.0
         when least(asked, measured) > 0 and (abs(asked - measured) < 16 and greatest(asked, measured) % 16 = 0
             or abs(asked - measured) < 32 and greatest(asked, measured) % 32 = 0
             or abs(asked - measured) < 64 and greatest(asked, measured) % 64 = 0
             or abs(asked - measured) < 8 and greatest(asked, measured) % 8 = 0 and least(asked, measured) >= 64)
         then greatest(asked, measured) / least(asked, measured) end
