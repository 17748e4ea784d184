"""Who may ask a director what: by its Unix socket, and from another machine with a certificate that has a role."""
import os, re, subprocess, unittest

from farm.farm_test import DATA, FarmCase
from harness import COPY, SOURCE, is_running, wait_until


class RolesTest(FarmCase):
    def setUp(self):
        super().setUp()
        self.certs = self.certificates()
        done = subprocess.run([os.path.join(SOURCE, "deploy/dev-certs"), self.certs, "reader=wall", "client=anna", "administrator=olga", "worker=node8"],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done)
        tls = "".join(f'tls_{what} = "{self.certs}/{file}"\n' for what, file in (("ca", "ca.pem"), ("cert", "director.pem"), ("key", "director.key")))
        self.game = self.project({"a.json": '{"x": 1}', "c.txt": "text"}, [DATA, COPY], extra="[farm]\n" + tls)

    def serve_clients(self):
        self.serve(self.game, "--listen", "127.0.0.1:0")
        self.address = self.read("game/.galley/state/client-address").decode().strip()

    def far(self, who, certs=None):
        certs = certs or self.certs
        return ["--director", self.address, "--tls-ca", f"{certs}/ca.pem", "--tls-cert", f"{certs}/{who}.pem", "--tls-key", f"{certs}/{who}.key"]

    def refused(self, who, role, *command):
        done = self.galley(*command, "--project", self.game, *self.far(who))
        self.assertEqual(done.returncode, 2, done)
        self.assertIn(f"needs the role {role}", done.stderr)
        self.assertIn(f"deploy/dev-certs DIR {role}=NAME", done.stderr)

    def test_each_may_do_what_its_role_says(self):
        self.serve_clients()
        for who in ("wall", "anna", "olga"):
            with self.subTest(who):
                shown = self.galley("status", *self.far(who))
                self.assertEqual(shown.returncode, 0, shown)
                self.assertIn("game", shown.stdout)
        self.refused("node8", "reader", "status")
        self.refused("wall", "client", "cook")
        for command in (["drain"], ["cancel", "1"], ["clean", "/Game/c.txt"]):
            for who in ("wall", "anna"):
                self.refused(who, "administrator", *command)
        # A client cooks: what is made lies where the director's project says.
        cook = self.galley("cook", "--project", self.game, "--json", *self.far("anna"))
        self.assertEqual(cook.returncode, 0, cook)
        self.assertEqual(self.tree(self.game, "pc")["Game/c.txt"], b"text")
        for option in (["--out", self.path("elsewhere")], ["--adopt"], ["--exact"]):
            done = self.galley("cook", "--project", self.game, *option, *self.far("olga"))
            self.assertEqual(done.returncode, 2, done)
            self.assertIn("is for the director's own user", done.stderr)
        self.assertFalse(os.path.exists(self.path("elsewhere")))
        followed = self.galley("cook", "--project", self.game, "--attach", "1", *self.far("wall"))
        self.assertEqual(followed.returncode, 0, followed)
        slip = self.galley("clean", "/Game/cc.txt", *self.far("olga"))
        self.assertEqual(slip.returncode, 2, slip)
        self.assertIn("/Game/cc.txt was in no cook of this project; did you mean /Game/c.txt?", slip.stderr)
        forgot = self.galley("clean", "/Game/c.txt", "--json", *self.far("olga"))
        self.assertEqual((forgot.returncode, forgot.stdout), (0, '{"forgot":["/Game/c.txt"]}\n'), forgot)
        self.assertIn("clean packages=1 asked by galley olga at 127.0.0.1", self.read("game/.galley/state/logs/director.log").decode())
        self.assertEqual(self.galley("clean", "content/c.txt", *self.far("olga")).returncode, 2)
        drained = self.galley("drain", *self.far("olga"))
        self.assertEqual(drained.returncode, 0, drained)

    def same(self, *command):
        """What the command prints here and from afar."""
        here = self.galley(*command, "--project", self.game)
        far = self.galley(*command, *self.far("wall"))
        self.assertEqual((here.returncode, here.stdout, here.stderr), (far.returncode, far.stdout, far.stderr), command)
        return far

    def test_why_and_logs_from_elsewhere_are_those_of_the_directors_machine(self):
        self.serve_clients()
        self.assertEqual(self.galley("cook", "--project", self.game).returncode, 0)
        for options in ([], ["--json"], ["--all", "--verbose"], ["--limit", "1"], ["--platform", "pc"]):
            self.assertEqual(self.same("why", "/Game/c.txt", *options).returncode, 0)
        self.assertIn("/Game/c.txt", self.same("why", "/Game/c.txt").stdout)
        self.assertEqual(self.same("why", "/Game/none.txt").returncode, 2)
        self.assertEqual(self.same("why", "/Game/c.txt", "--platform", "--all").returncode, 2)
        self.assertEqual(self.same("logs", "/Game/c.txt").returncode, 0)
        self.assertIn("local-1", self.same("logs", "local-1", "-n", "3").stdout)
        self.assertEqual(self.same("logs", "local-1", "--json", "--since", "1h").returncode, 0)
        self.assertEqual(self.same("logs", "--since", "never").returncode, 2)
        self.assertEqual(self.same("logs", "nobody").returncode, 2)
        # What would name files of the director's machine is not asked for.
        for what in ("content/c.txt", "../c.txt", "/Game/../../../etc/passwd"):
            for command in ("why", "logs"):
                done = self.galley(command, what, *self.far("olga"))
                self.assertEqual(done.returncode, 2, done)
                self.assertIn("the virtual path of a package", done.stderr)
        self.refused("node8", "reader", "why", "/Game/c.txt")
        self.refused("node8", "reader", "logs")

    def test_logs_that_are_followed_end_with_their_client_and_well_with_the_director(self):
        self.serve_clients()
        galley = os.path.join(self.bin, "galley")
        def follow():
            return subprocess.Popen([galley, "logs", "--follow", *self.far("wall")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        def followers():
            director = self.status(self.game)["process"]
            found = subprocess.run(["pgrep", "-P", str(director), "-f", "logs.*--follow"], capture_output=True, text=True).stdout.split()
            return len(found)
        leaves, stays = follow(), follow()
        wait_until(lambda: followers() == 2, "two that follow")
        leaves.kill()
        leaves.communicate()
        wait_until(lambda: followers() == 1, "the end of the one that was killed")
        done = self.galley("serve", "--stop", *self.far("olga"))
        self.assertEqual(done.returncode, 0, done)
        output, errors = stays.communicate(timeout=60)
        self.assertEqual((stays.returncode, errors), (0, ""), output)

    def test_an_administrator_stops_the_director_from_elsewhere(self):
        self.serve_clients()
        process = self.status(self.game)["process"]
        self.refused("wall", "administrator", "serve", "--stop")
        self.refused("anna", "administrator", "serve", "--stop")
        self.assertTrue(is_running(process))
        alone = self.galley("serve", "--project", self.game, *self.far("olga"))
        self.assertEqual(alone.returncode, 2, alone)
        self.assertIn("--stop", alone.stderr)
        done = self.galley("serve", "--stop", *self.far("olga"))
        self.assertEqual(done.returncode, 0, done)
        self.assertIn(f"(process {process}) has ended", done.stderr)
        wait_until(lambda: not is_running(process), "the end of the director")
        self.assertIn("the director ends: galley olga at 127.0.0.1 asked it to", self.read("game/.galley/state/logs/director.log").decode())

    def test_strangers_get_no_further_than_the_handshake(self):
        self.serve_clients()
        others = self.certificates("others")
        for certs, who in ((others, "worker"),):
            done = self.galley("status", "--director", self.address, "--tls-ca", f"{self.certs}/ca.pem", "--tls-cert", f"{certs}/{who}.pem",
                               "--tls-key", f"{certs}/{who}.key")
            self.assertEqual(done.returncode, 3, done)
            self.assertIn("no director answers at", done.stderr)
        half = self.galley("status", "--director", self.address, "--tls-ca", f"{self.certs}/ca.pem")
        self.assertEqual(half.returncode, 2, half)
        self.assertIn("expected --tls-ca, --tls-cert and --tls-key", half.stderr)

    def test_a_new_certificate_is_taken_up_and_the_address_goes_with_the_director(self):
        self.serve_clients()
        before = self.read("certs/director.pem")
        self.certificates()
        self.assertNotEqual(self.read("certs/director.pem"), before)
        log = os.path.join(self.game, ".galley/state/logs/director.log")
        wait_until(lambda: "clients: another certificate is in force" in open(log).read(), "the new certificate", limit_s=60)
        self.assertEqual(self.galley("status", *self.far("wall")).returncode, 0)
        self.assertEqual(self.galley("serve", "--stop", "--project", self.game).returncode, 0)
        self.assertFalse(os.path.exists(os.path.join(self.game, ".galley/state/client-address")))
        self.assertEqual(self.galley("status", *self.far("wall")).returncode, 3)

    def test_without_certificates_nobody_listens(self):
        game = self.project({"c.txt": "text"}, [COPY], name="plain")
        done = self.galley("serve", "--project", game, "--listen", "127.0.0.1:0")
        self.assertEqual(done.returncode, 2, done)
        self.assertIn("set tls_ca, tls_cert and tls_key in [farm]", done.stderr)


if __name__ == "__main__":
    unittest.main()
