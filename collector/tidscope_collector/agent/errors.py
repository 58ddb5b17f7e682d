"""What can go wrong with an agent; each text is a sentence for people."""


class AgentClientError(Exception):
    """Something is wrong with an agent, or with the way to it."""


class NoAgentError(AgentClientError):
    """The program has no agent: there is no socket of it in any of the places."""


class StaleSocketError(AgentClientError):
    """There is a socket of that name, and nobody listens: a program that ended left it."""


class WrongPeerError(AgentClientError):
    """Another process, or another user's, listens in the program's place."""


class AgentRefusedError(AgentClientError):
    """The agent understood and said no.

    Attributes:
        code: as in the schema of AgentError.
    """

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class AgentProtocolError(AgentClientError):
    """What came from the agent is not the protocol; the connection is closed."""


class AgentTimeoutError(AgentClientError):
    """There was no answer in time; the connection is closed."""


class AgentLostError(AgentClientError):
    """The agent closed the connection, or its program has ended."""
