// SelfSigned: a certificate that signs itself, with its key, for tests of TLS.
#pragma once

#include <string>

namespace galley::wire {

struct SelfSigned {
  std::string certificate, key;  // PEM
};

// `names`: "DNS:a.example,IP:127.0.0.1". Valid from a day ago for `days` days.
SelfSigned MakeSelfSigned(const std::string& names, int days = 2);

}  // namespace galley::wire
