#include "common/vfs_tls/net_bio.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace galley::vfs_tls {
namespace {

Underneath& UnderneathOf(BIO* bio) { return *static_cast<Underneath*>(BIO_get_data(bio)); }

int Write(BIO* bio, const char* bytes, int size) {
  const Underneath& to = UnderneathOf(bio);
  BIO_clear_retry_flags(bio);
  if (size <= 0) return 0;
  const ptrdiff_t sent =
      to.net->send(to.net->context, to.connection, bytes, static_cast<size_t>(size), to.LeftMs());
  if (sent > 0) return static_cast<int>(std::min<ptrdiff_t>(sent, size));
  if (sent == -1) BIO_set_retry_write(bio);
  return -1;
}

int Read(BIO* bio, char* buffer, int size) {
  Underneath& from = UnderneathOf(bio);
  BIO_clear_retry_flags(bio);
  if (size <= 0) return 0;
  const ptrdiff_t got = from.net->receive(from.net->context, from.connection, buffer,
                                          static_cast<size_t>(size), from.LeftMs());
  if (got > 0) return static_cast<int>(std::min<ptrdiff_t>(got, size));
  if (got == -1) BIO_set_retry_read(bio);
  if (got != 0) return -1;
  from.has_ended = true;
  return 0;
}

// OpenSSL asks for little; what is not answered here, a BIO need not know.
long Control(BIO* bio, int command, long, void*) {  // NOLINT(google-runtime-int): OpenSSL's
  if (command == BIO_CTRL_FLUSH) return 1;          // nothing is held back
  if (command == BIO_CTRL_EOF) return UnderneathOf(bio).has_ended ? 1 : 0;
  return 0;
}

}  // namespace

int Underneath::LeftMs() const {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Time::clock::now());
  return static_cast<int>(std::clamp<int64_t>(left.count(), 0, std::numeric_limits<int>::max()));
}

void Underneath::LimitTo(int timeout_ms) {
  until = Time::clock::now() + std::chrono::milliseconds(std::max(timeout_ms, 0));
}

BioMethodPointer MakeNetBioMethod() {
  BioMethodPointer method(BIO_meth_new(BIO_TYPE_SOURCE_SINK, "galley_vfs_net"));
  if (method == nullptr) return nullptr;
  BIO_meth_set_write(method.get(), &Write);
  BIO_meth_set_read(method.get(), &Read);
  BIO_meth_set_ctrl(method.get(), &Control);
  return method;
}

BioPointer MakeNetBio(const BIO_METHOD* method, Underneath& underneath) {
  BioPointer bio(BIO_new(method));
  if (bio == nullptr) return nullptr;
  BIO_set_data(bio.get(), &underneath);
  BIO_set_init(bio.get(), 1);
  return bio;
}

}  // namespace galley::vfs_tls
