//! The schemes of Stewart & Trinkle and of Anitescu & Potra.
