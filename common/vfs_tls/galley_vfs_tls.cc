#include "common/vfs_tls/galley_vfs_tls.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

#include "common/vfs/sockets.h"
#include "common/vfs_tls/tls_connection.h"

namespace tls = galley::vfs_tls;

namespace {

constexpr const char* kNoMemory = "there is no memory";

void CopyText(const std::string& from, char* text, size_t text_size) {
  if (text != nullptr && text_size > 0) std::snprintf(text, text_size, "%s", from.c_str());
}

// Copies a struct of a caller that may be older: what the caller does not know is zero.
template <typename Struct>
Struct CopyOf(const Struct* given) {
  Struct copy{};
  std::memcpy(&copy, given, std::min(given->struct_size, sizeof copy));
  copy.struct_size = sizeof copy;
  return copy;
}

void* Connect(void* context, const char* host, uint16_t port, int timeout_ms, char* text,
              size_t text_size) noexcept try {
  const auto& ground = *static_cast<const tls::Ground*>(context);
  const tls::Time until = tls::Time::clock::now() + std::chrono::milliseconds(timeout_ms);
  void* const underneath =
      ground.net.connect(ground.net.context, host, port, timeout_ms, text, text_size);
  if (underneath == nullptr) return nullptr;
  auto connection = std::make_unique<tls::TlsConnection>(ground, underneath);
  const std::string wrong = connection->Begin(host, until);
  if (wrong.empty()) return connection.release();
  CopyText(wrong, text, text_size);
  return nullptr;
} catch (...) {
  if (text != nullptr && text_size > 0) std::snprintf(text, text_size, "%s", kNoMemory);
  return nullptr;
}

ptrdiff_t Send(void*, void* connection, const void* bytes, size_t size, int timeout_ms) noexcept {
  return static_cast<tls::TlsConnection*>(connection)->Send(bytes, size, timeout_ms);
}

ptrdiff_t Receive(void*, void* connection, void* buffer, size_t size, int timeout_ms) noexcept {
  return static_cast<tls::TlsConnection*>(connection)->Receive(buffer, size, timeout_ms);
}

void Close(void*, void* connection) noexcept {
  delete static_cast<tls::TlsConnection*>(connection);
}

// Returns what is wrong; empty: nothing.
std::string Fill(const galley_vfs_tls_options& options, galley_vfs_net& net) {
  auto ground = std::make_unique<tls::Ground>();
  ground->net = options.net == nullptr ? galley::vfs::PlainNet() : CopyOf(options.net);
  const galley_vfs_net& under = ground->net;
  if (under.connect == nullptr || under.send == nullptr || under.receive == nullptr ||
      under.close == nullptr)
    return "net: expected four functions, and its struct_size";
  ground->bio_method = tls::MakeNetBioMethod();
  if (ground->bio_method == nullptr) return kNoMemory;
  if (std::string wrong = ground->trust.Begin(options); !wrong.empty()) return wrong;
  net = {.struct_size = sizeof net,
         .context = ground.release(),
         .connect = &Connect,
         .send = &Send,
         .receive = &Receive,
         .close = &Close};
  return {};
}

}  // namespace

int galley_vfs_tls_create(const galley_vfs_tls_options* options, galley_vfs_net* net, char* text,
                          size_t text_size) try {
  if (net == nullptr) return GALLEY_VFS_INVALID;
  *net = {};
  if (options == nullptr) return GALLEY_VFS_INVALID;
  const std::string wrong = Fill(CopyOf(options), *net);
  if (wrong.empty()) return GALLEY_VFS_OK;
  CopyText(wrong, text, text_size);
  return GALLEY_VFS_INVALID;
} catch (...) {
  return GALLEY_VFS_MEMORY;
}

void galley_vfs_tls_destroy(galley_vfs_net* net) {
  if (net == nullptr) return;
  delete static_cast<tls::Ground*>(net->context);
  *net = {};
}
