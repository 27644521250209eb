-- Whether a measured value is what a target asks for; nothing asked agrees with all, a blank cell with nothing asked only.
create or replace temp macro attention_agrees(asked, measured) as
    asked is null or coalesce(measured = asked, false)
