"""Other people's MQTT clients behind one small interface, so that each talks to each: `clients.roster` has them all."""
