-- Whether output dtypes that a target asks for are the first of those measured, or the other way round; a target may ask for none.
create or replace temp macro outputs_agree(asked, had) as asked = '' or starts_with(had || ';', asked || ';')
    or starts_with(asked || ';', had || if(had = '', '', ';'))
