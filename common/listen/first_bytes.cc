#include "common/listen/first_bytes.h"

#include <algorithm>
#include <string>

namespace galley::listen {
namespace {

constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
static_assert(kPreface.size() == kFirstBytesMax);

constexpr char kHandshake = 0x16, kMajorVersion = 3, kClientHello = 1;
constexpr size_t kTlsBytes = 6;  // type, version (2), size (2), type of the message

// True of bytes, as many as there are, that a ClientHello may begin with.
bool IsLikeTls(std::string_view bytes) {
  return (bytes.empty() || bytes[0] == kHandshake) &&
         (bytes.size() < 2 || bytes[1] == kMajorVersion) &&
         (bytes.size() < kTlsBytes || bytes[kTlsBytes - 1] == kClientHello);
}

// A frame of HTTP/2: size (3), type, flags, stream (4), payload.
std::string Frame(char type, std::string_view payload) {
  std::string frame = {0, 0, static_cast<char>(payload.size()), type, 0, 0, 0, 0, 0};
  return frame.append(payload);
}

std::string GoAway() {
  constexpr char kSettings = 4, kGoAway = 7, kEnhanceYourCalm = 11;
  std::string payload = {0, 0, 0, 0, 0, 0, 0, kEnhanceYourCalm};  // last stream (4), error (4)
  payload += "the server has as many connections as it may";
  return Frame(kSettings, "") + Frame(kGoAway, payload);
}

// Type (alert), version, size, level (fatal), internal_error.
constexpr char kTlsAlert[] = {0x15, 3, 3, 0, 2, 2, 80};

}  // namespace

FirstBytes Judge(std::string_view bytes) {
  if (bytes.starts_with(kPreface)) return FirstBytes::kHttp2;
  if (kPreface.starts_with(bytes)) return FirstBytes::kTooFew;
  if (!IsLikeTls(bytes)) return FirstBytes::kOther;
  return bytes.size() < kTlsBytes ? FirstBytes::kTooFew : FirstBytes::kTls;
}

std::string_view RefusalOf(bool has_tls) {
  static const std::string& go_away = *new std::string(GoAway());
  return has_tls ? std::string_view(kTlsAlert, sizeof(kTlsAlert)) : std::string_view(go_away);
}

}  // namespace galley::listen
