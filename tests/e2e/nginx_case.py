"""A director behind Debian's nginx with the configuration of deploy/nginx, for the tests of several files."""
import os, shutil, socket, subprocess, sys, tempfile

from exposition import read_metrics
from harness import SOURCE, end_in_turn, read_file
from http_case import Http, HttpTest

sys.path.insert(0, os.path.join(SOURCE, "scripts"))
import debian

MAIN = """pid {dir}/nginx.pid;
error_log {dir}/nginx-error.log;
daemon off;
events {{}}
http {{
  access_log off;
  client_body_temp_path {dir}/body;
  proxy_temp_path {dir}/proxy;
  fastcgi_temp_path {dir}/fastcgi;
  uwsgi_temp_path {dir}/uwsgi;
  scgi_temp_path {dir}/scgi;
  include {dir}/galley.conf;
}}
"""


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def find_nginx(test_class):
    """The program; where it is not installed, that of Debian's package, which is not installed for it: it would start a server on port 80."""
    if not hasattr(test_class, "nginx"):
        test_class.nginx = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin")
    if not test_class.nginx:
        folder = tempfile.mkdtemp()
        test_class.addClassCleanup(shutil.rmtree, folder)
        test_class.nginx = os.path.join(debian.unpack("nginx", folder), "usr/sbin/nginx")
    return test_class.nginx


class NginxCase(HttpTest):
    def start(self, project, *args):
        """The director and nginx in front of it; requests that reach the director are counted by `answered`."""
        self.direct = self.serve_http(project, "--metrics", "127.0.0.1:0", *args)
        self.metrics = f"http://{read_file(os.path.join(project, '.galley/state/metrics-address')).decode().strip()}/metrics"
        port = free_port()
        text = read_file(os.path.join(SOURCE, "deploy/nginx/galley.conf")).decode()
        for old, new in (("127.0.0.1:8080", self.direct.host), ("listen 8081;", f"listen 127.0.0.1:{port};"),
                         ("/var/cache/nginx/galley", self.path("cache"))):
            self.assertIn(old, text)
            text = text.replace(old, new)
        self.write("galley.conf", text)
        # As root nginx gives its workers another user, who cannot write here.
        user = "user root;\n" if os.geteuid() == 0 else ""
        nginx = subprocess.Popen([find_nginx(type(self)), "-c", self.write("nginx.conf", user + MAIN.format(dir=self.dir))], stderr=subprocess.DEVNULL)
        self.addCleanup(end_in_turn, [nginx], 10)
        self.wait_until(lambda: self.is_listened_on(port))
        return Http(f"http://127.0.0.1:{port}")

    @staticmethod
    def is_listened_on(port):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return True
        except OSError:
            return False

    def answered(self, *classes):
        found = read_metrics(self.metrics)
        return sum(int(found.value("galley_http_answers_total", status=status)) for status in classes or ("2xx", "3xx", "4xx", "5xx"))
