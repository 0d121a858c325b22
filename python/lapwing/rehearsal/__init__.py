"""What a start would refuse, found without one: for ``lapwing config check``.

- Files are read by what reads them at the start: users, rules, certificates, keys, hooks, strategies.
- Ports and the data folder are looked at from outside: nothing is made, nobody can connect, and two who look at once do
  not see each other.
- Everything that is wrong is told, not the first of it.
"""
