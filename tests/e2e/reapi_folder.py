"""Directories of REAPI as a client decodes them by hand."""
from raw_grpc import fields_of


class Folder:
    """A Directory of REAPI: files {name: (digest, is_executable)}, folders {name: digest}, links {name: target}."""

    def __init__(self, message):
        self.files, self.folders, self.links = {}, {}, {}
        for number, value in fields_of(message):
            node = dict(fields_of(value))
            name = node[1].decode()
            if number == 3:
                self.links[name] = node[2].decode()
                continue
            digest = dict(fields_of(node[2]))
            text = f"{digest[1].decode()}/{digest.get(2, 0)}"
            if number == 1:
                self.files[name] = (text, bool(node.get(4, 0)))
            else:
                self.folders[name] = text
