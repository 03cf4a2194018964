#!/no/such/interpreter
# Needs an interpreter that does not exist: it cannot be started.
echo never
