"""Play a simulated league on a server: bots and judges in processes of their own, over HTTP."""
