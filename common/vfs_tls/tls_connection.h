// TlsConnection: a connection of galley_vfs_net with TLS over it.
//
// Threads: one at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "common/vfs/galley_vfs.h"
#include "common/vfs_tls/net_bio.h"
#include "common/vfs_tls/trust.h"

namespace galley::vfs_tls {

// Ground: what all connections of an adapter share. Constant once it is made.
struct Ground {
  Trust trust;
  BioMethodPointer bio_method;
  galley_vfs_net net{};  // under the TLS
};

class TlsConnection {
 public:
  // `ground` outlives the connection; `underneath` is closed by the destructor.
  TlsConnection(const Ground& ground, void* underneath)
      : ground_(ground), underneath_{.net = &ground.net, .connection = underneath} {}
  TlsConnection(const TlsConnection&) = delete;
  TlsConnection& operator=(const TlsConnection&) = delete;
  // Tells the peer that this is the end, if that needs no waiting.
  ~TlsConnection();

  // Shakes hands. Returns why it cannot be; empty: it is done. Called once, first.
  std::string Begin(const std::string& host, Time until);

  // The results are those of galley_vfs_net. After -1 of Send the same bytes must be sent.
  ptrdiff_t Send(const void* bytes, size_t size, int timeout_ms);
  ptrdiff_t Receive(void* buffer, size_t size, int timeout_ms);

 private:
  std::string WhyNot(int result) const;
  ptrdiff_t OutcomeOf(int result);

  const Ground& ground_;
  Underneath underneath_;
  std::string refusal_;  // why the server's certificate was refused
  ConnectionPointer tls_;
  bool is_whole_ = false;  // the handshake is done, and nothing has broken since
};

}  // namespace galley::vfs_tls
