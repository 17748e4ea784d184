// NetBio: an OpenSSL BIO over a connection of galley_vfs_net, with a limit of time for each call of
// OpenSSL, however many transfers that makes.
//
// Threads: one at a time for one connection.
#pragma once

#include <openssl/bio.h>

#include <chrono>
#include <memory>

#include "common/vfs/galley_vfs.h"

namespace galley::vfs_tls {

template <auto free>
struct FreedBy {
  template <typename Object>
  void operator()(Object* object) const {
    free(object);
  }
};
using BioPointer = std::unique_ptr<BIO, FreedBy<BIO_free>>;
using BioMethodPointer = std::unique_ptr<BIO_METHOD, FreedBy<BIO_meth_free>>;

using Time = std::chrono::steady_clock::time_point;

// Underneath: a connection that carries TLS.
struct Underneath {
  const galley_vfs_net* net = nullptr;
  void* connection = nullptr;
  Time until{};            // when the present call must be over
  bool has_ended = false;  // the peer has closed the connection

  int LeftMs() const;
  void LimitTo(int timeout_ms);
};

// nullptr: there is no memory.
BioMethodPointer MakeNetBioMethod();
// `method` and `underneath` outlive the BIO. nullptr: there is no memory.
BioPointer MakeNetBio(const BIO_METHOD* method, Underneath& underneath);

}  // namespace galley::vfs_tls
