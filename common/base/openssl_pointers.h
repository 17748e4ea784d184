// Owners of OpenSSL's objects, and the reading of PEM text without a terminal.
// Threads: as OpenSSL's functions.
#pragma once

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <memory>
#include <string_view>

namespace galley {

template <auto free>
struct FreedBy {
  template <typename T>
  void operator()(T* object) const {
    free(object);
  }
};
using BioPointer = std::unique_ptr<BIO, FreedBy<BIO_free_all>>;
using X509Pointer = std::unique_ptr<X509, FreedBy<X509_free>>;
using KeyPointer = std::unique_ptr<EVP_PKEY, FreedBy<EVP_PKEY_free>>;

// Reads the text, which outlives the reader.
inline BioPointer PemReaderOf(std::string_view text) {
  return BioPointer(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

// OpenSSL's own function asks for a password at a terminal and would wait for ever.
inline int RefusePassword(char*, int, int, void*) { return 0; }

// nullptr: the text has no further certificate.
inline X509Pointer NextCertificate(BIO* pem) {
  return X509Pointer(PEM_read_bio_X509(pem, nullptr, &RefusePassword, nullptr));
}

}  // namespace galley
