"""Runs mirror.py at each nudge: ONBOARDING_URL=… ONBOARDING_KEY=… WEBHOOK_SECRET=… python3 receiver.py"""
import http.server, os, pathlib, subprocess, sys, threading, time
from standardwebhooks import Webhook
webhook, nudged = Webhook(os.environ["WEBHOOK_SECRET"]), threading.Event()

class Receiver(http.server.BaseHTTPRequestHandler):
    timeout = 15  # of a sender that stops in the middle

    def do_POST(self):
        try:  # verify raises unless the service has signed it
            webhook.verify(self.rfile.read(min(int(self.headers["Content-Length"]), 1024)), dict(self.headers))
        except Exception as error:
            self.log_error("%s", error)
            return self.send_error(401)
        self.send_response(204)
        self.end_headers()
        nudged.set()

server = http.server.ThreadingHTTPServer(("", int(os.environ.get("PORT", "3000"))), Receiver)
threading.Thread(target=server.serve_forever, daemon=True).start()
while True:  # at the start, at each nudge, and every hour
    nudged.clear()
    failed = subprocess.run([sys.executable, pathlib.Path(__file__).with_name("mirror.py")]).returncode
    time.sleep(30)  # a key may list 120 times an hour
    nudged.wait(0 if failed else 3600)
